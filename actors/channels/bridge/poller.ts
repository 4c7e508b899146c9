/** Performs one poll of a bridge and tells the Connection what came of it (bridge §7.2). */

import { setImmediate } from 'node:timers/promises';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import type { PollBegun } from '../../connection/effects.ts';
import { LONG_PAUSE } from '../../connection/machine.ts';
import { connectionAddress, type PollFinished, type PollOutcome } from '../../connection/messages.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeClient, openBridge } from './client.ts';
import { readEvent } from './events.ts';
import type { InfoReader } from './info-reader.ts';
import type { EventIntake } from './intake.ts';
import { bridgeCalls, type EventPage } from './operations.ts';

/** Events of a page that are handled side by side: fewer than may wait for one actor, since pushed ones come, too. */
const PORTION = 50;
/** Ids remembered of a page that is polled again; the events beyond are looked up each time. */
const MOST_REMEMBERED = 10_000;
const NONE: ReadonlySet<string> = new Set();

export interface PollerDeps {
  readonly bridge: BridgeClient;
  readonly infos: InfoReader;
  readonly intake: EventIntake;
  readonly opener: Opener;
  readonly system: Pick<ActorSystem, 'tell' | 'stillOwns'>;
  readonly clock: Clock;
  readonly log: Log;
  settings(id: PublicId): Promise<BridgeSettings | null>;
}

export interface Poller {
  /** Performs `connection.poll`. Never throws. */
  poll(effect: PollBegun): void;
  /** Begins nothing any more. */
  stop(): void;
}

/** A page of which events failed: it is polled again, and only what is left of it is handled (bridge §7.2 rule 4). */
interface UnfinishedPage {
  readonly access: number;
  /** The page begins behind it. */
  readonly cursor: string | null;
  /** Ids, at most {@link MOST_REMEMBERED}. */
  readonly handled: ReadonlySet<string>;
}

export function createPoller(deps: PollerDeps): Poller {
  const { system, clock, log } = deps;
  /** Per Connection whose last page has to come again. */
  const unfinished = new Map<PublicId, UnfinishedPage>();
  let isStopped = false;

  const run = async (effect: PollBegun): Promise<PollOutcome | null> => {
    const settings = await deps.settings(effect.connectionId);
    if (!settings || settings.access !== effect.access || settings.eventMode !== 'poll') {
      unfinished.delete(effect.connectionId);
      return { is: 'lost' };
    }
    const access = openBridge(deps.opener, settings);
    if (!access) return { is: 'failed', error: 'secret_unreadable', retryAt: clock.now() + LONG_PAUSE };
    // A process that was paused may have lost the Connection: then its new owner polls.
    if (!(await system.stillOwns(connectionAddress(settings.id)))) {
      unfinished.delete(settings.id);
      return null;
    }
    const known = await deps.infos.upToDate(settings, access, 'background');
    const info = known.class === 'ok' ? known.info : null;
    if (info && !info.event_delivery.includes('poll')) return { is: 'unoffered' };
    const request = bridgeCalls.pollEvents(effect.cursor);
    const outcome = await deps.bridge.call(access, request, { class: 'background' });
    if (outcome.class === 'not_sent' || isStopped) return null;
    if (outcome.class !== 'ok') return failed(outcome, effect.cursor !== null, clock.now());
    return handled(effect, outcome.value);
  };

  const handled = async (
    { connectionId: id, access, cursor: polledFrom, postponed }: PollBegun,
    { events: sent, next_cursor: cursor }: EventPage,
  ): Promise<PollOutcome> => {
    const before = handledBefore(unfinished.get(id), access, polledFrom);
    const page = { postponed: new Set(postponed), closedLanes: new Set<string>() };
    const remembered = new Set<string>();
    const remember = (eventId: string) => remembered.size < MOST_REMEMBERED && remembered.add(eventId);
    const ids: string[] = [];
    const heldBack: string[] = [];
    let dropped = 0;
    for (let begin = 0; begin < sent.length; begin += PORTION) {
      // A page can hold many thousands: between portions everybody else gets a turn.
      if (begin > 0) await setImmediate();
      const values = sent.slice(begin, begin + PORTION);
      const read = values.flatMap((value) => readEvent(value, clock.now()) ?? []);
      dropped += values.length - read.length;
      const events = read.filter((event) => !before.has(event.id));
      const portion = await deps.intake.handleAll(id, events, page);
      const left = new Set([...portion.failed, ...portion.heldBack]);
      for (const event of read) if (!left.has(event.id)) remember(event.id);
      ids.push(...portion.failed);
      heldBack.push(...portion.heldBack);
    }
    if (dropped > 0) log('update_dropped', { connection: id, reason: `${dropped} of a page are no events` });
    if (ids.length === 0 && heldBack.length === 0) {
      unfinished.delete(id);
      return { is: 'passed', cursor, brought: sent.length > 0 };
    }
    unfinished.set(id, { access, cursor: polledFrom, handled: remembered });
    return { is: 'events_failed', ids, postponed: heldBack };
  };

  return {
    poll(effect) {
      if (isStopped) return;
      const finish = (outcome: PollOutcome | null) => {
        if (!outcome || isStopped) return;
        const { connectionId, poll } = effect;
        const message: PollFinished = { type: 'poll_finished', poll, outcome, at: clock.now() };
        system.tell(connectionAddress(connectionId), message);
      };
      // What fails here is the database: the poll begins anew when it is back.
      run(effect).then(finish, (error: unknown) => {
        log('store_read_failed', { what: `Connection ${effect.connectionId}`, error: String(error) });
        finish({ is: 'failed', error: 'the database did not answer', retryAt: null });
      });
    },
    stop() {
      isStopped = true;
    },
  };
}

/** Events of the page at `cursor` that were handled while others of it failed. */
function handledBefore(
  page: UnfinishedPage | undefined,
  access: number,
  cursor: string | null,
): ReadonlySet<string> {
  return page?.access === access && page.cursor === cursor ? page.handled : NONE;
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
