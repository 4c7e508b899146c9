/** Says something to the person behind an event (bridge §7.4). */
import type { Clock, Micros } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import type { Said } from '../intake.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeUse, openBridge } from './client.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';

const LONGEST_TEXT = 500;
/** Before the second and last attempt, where the bridge names no time. */
const PAUSE: Micros = 500_000;

export interface Answers {
  /**
   * Gives it up when it cannot be said before the deadline.
   * @returns false when it was not tried, because the service stops
   */
  say(id: PublicId, event: { readonly id: string }, said: Said): Promise<boolean>;
}

export interface AnswersDeps extends BridgeUse {
  readonly infos: InfoReader;
  readonly tokens: WaitingTokens;
  readonly clock: Clock;
  readonly log: Log;
}

type Attempt = BridgeOutcome<unknown> | { readonly class: 'no_token' | 'secret_unreadable' };

export function createAnswers(deps: AnswersDeps): Answers {
  const { clock, log, tokens } = deps;

  const attempt = async (
    settings: BridgeSettings,
    eventId: string,
    text: string,
    number: number,
  ): Promise<Attempt> => {
    const access = openBridge(deps.opener, settings);
    if (!access) return { class: 'secret_unreadable' };
    const known = await deps.infos.upToDate(settings, access, 'interactive');
    if (known.class !== 'ok') return known;
    if ((await tokens.take(settings.id)) !== 'granted') return { class: 'no_token' };
    return deps.bridge.call(access, bridgeCalls.answerEvent(eventId, text), {
      class: 'interactive',
      attempt: number,
    });
  };

  return {
    async say(id, { id: eventId }, { text, deadline }) {
      const settings = await deps.settings(id);
      if (!settings) return true;
      const shortened = [...text].slice(0, LONGEST_TEXT).join('');
      let outcome = await attempt(settings, eventId, shortened, 1);
      const againAt = timeOfSecond(outcome, clock.now());
      if (againAt !== null && againAt < deadline) {
        await new Promise<void>((resolve) => void clock.after(againAt - clock.now(), resolve));
        outcome = await attempt(settings, eventId, shortened, 2);
      }
      if (outcome.class === 'not_sent') return false;
      if (outcome.class === 'ok') return true;
      const error = 'error' in outcome ? outcome.error : outcome.class;
      log('event_not_answered', { connection: id, event_id: eventId, outcome: outcome.class, error });
      return true;
    },
  };
}

/** Null: a second attempt would end like the first. */
function timeOfSecond(outcome: Attempt, now: Micros): Micros | null {
  if (outcome.class === 'retry_after') return outcome.until;
  return outcome.class === 'transient' || outcome.class === 'no_token' ? now + PAUSE : null;
}
