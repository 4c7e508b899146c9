/** One poll of a bridge (bridge §7.2). */
import type { Clock } from '../../../runtime/clock.ts';
import { LONG_PAUSE } from '../../connection/machine.ts';
import type { PollOutcome } from '../../connection/messages.ts';
import type { PollerDeps } from '../polling.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeUse, openBridge } from './client.ts';
import { type BridgeEvent, readEvent } from './events.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';

export interface BridgePollDeps extends BridgeUse {
  readonly infos: InfoReader;
  readonly clock: Pick<Clock, 'now'>;
}

/** What polling a bridge means to {@link PollerDeps}. */
export function bridgePoll(deps: BridgePollDeps): Pick<PollerDeps<BridgeEvent>, 'fetch' | 'readEvent'> {
  return {
    readEvent,
    async fetch(effect, stillMine) {
      const settings = await deps.settings(effect.connectionId);
      if (!settings || settings.access !== effect.access || settings.eventMode !== 'poll') {
        return { is: 'lost' };
      }
      const access = openBridge(deps.opener, settings);
      if (!access)
        return { is: 'failed', error: 'secret_unreadable', retryAt: deps.clock.now() + LONG_PAUSE };
      if (!(await stillMine())) return null;
      const known = await deps.infos.upToDate(settings, access, 'background');
      const info = known.class === 'ok' ? known.info : null;
      if (info && !info.event_delivery.includes('poll')) return { is: 'unoffered' };
      const request = bridgeCalls.pollEvents(effect.cursor);
      const outcome = await deps.bridge.call(access, request, { class: 'background' });
      if (outcome.class === 'not_sent') return null;
      if (outcome.class !== 'ok') return failed(outcome, effect.cursor !== null, deps.clock.now());
      const { events: sent, next_cursor: cursor } = outcome.value;
      return { is: 'page', sent, cursor, isFull: false };
    },
  };
}

function failed(
  outcome: Exclude<BridgeOutcome<unknown>, { class: 'ok' | 'not_sent' }>,
  hadCursor: boolean,
  now: number,
): PollOutcome {
  const { error } = outcome;
  if (outcome.class === 'retry_after') return { is: 'failed', error, retryAt: outcome.until };
  const isMisconfigured = outcome.class === 'fatal' || outcome.code === 'redirect_refused';
  if (isMisconfigured) return { is: 'failed', error, retryAt: now + LONG_PAUSE };
  const isRefused = outcome.class === 'unknown' && outcome.code === 'http_status';
  return isRefused && hadCursor ? { is: 'cursor_refused', error } : { is: 'failed', error, retryAt: null };
}
