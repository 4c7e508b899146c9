/** Takes an event from a poll or a push to its end: effect and id stored together, the person answered (bridge §7.1). */

import type { ActorSystem } from '../../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Opener } from '../../../runtime/secrets/keyring.ts';
import {
  connectionAddress,
  type EventAnswer,
  type EventArrived,
  type EventSettled,
} from '../../connection/messages.ts';
import type { BridgeSettings } from '../../connection/ports.ts';
import type { WaitingTokens } from '../../connection/tokens.ts';
import type { Reaction } from '../press.ts';
import type { BridgeOutcome } from './answer.ts';
import { type BridgeClient, openBridge } from './client.ts';
import { type BridgeEvent, lanesOf } from './events.ts';
import type { InfoReader } from './info-reader.ts';
import { bridgeCalls } from './operations.ts';
import type { React } from './reactions.ts';

/** For all of one event. */
const HANDLED_WITHIN: Micros = 10 * SECOND;

export interface EventIntake {
  /** False: it failed and has to come again. Never throws. */
  handle(id: PublicId, event: BridgeEvent): Promise<boolean>;
  /** Handles events of a page: those of one message and of one person in order, the others side by side. */
  handleAll(id: PublicId, events: readonly BridgeEvent[], page: PageProgress): Promise<NotHandled>;
}

/** What is known of a page while its events are handled portion by portion. */
export interface PageProgress {
  /** Ids of events that failed before and are not to be tried this time. */
  readonly postponed: ReadonlySet<string>;
  /** Messages and people of events that were not handled: what comes after these waits for them. Grows. */
  readonly closedLanes: Set<string>;
}

/** Ids of events that have to come again. */
export interface NotHandled {
  readonly failed: readonly string[];
  /** Not tried: postponed, or behind one that was not handled. */
  readonly heldBack: readonly string[];
}

export interface EventIntakeDeps {
  readonly react: React;
  readonly system: Pick<ActorSystem, 'ask' | 'tell'>;
  readonly answers: Answers;
  readonly clock: Clock;
  readonly log: Log;
}

export function createEventIntake({ react, system, answers, clock, log }: EventIntakeDeps): EventIntake {
  /** By Connection and event: one that comes by poll and push together is answered once. */
  const answering = new Map<string, Promise<boolean>>();

  const answer = (id: PublicId, eventId: string, text: string, deadline: Micros): Promise<boolean> => {
    const key = `${id} ${eventId}`;
    const saying =
      answering.get(key) ?? answers.say(id, eventId, text, deadline).finally(() => answering.delete(key));
    answering.set(key, saying);
    return saying;
  };

  /** @returns what is to be said: of an event that was noted before, what is left of that */
  const note = async (
    id: PublicId,
    eventId: string,
    { say, deleted }: Extract<Reaction, { is: 'noted' }>,
  ): Promise<string | null> => {
    const arrived: EventArrived = { type: 'event', eventId, say, ...(deleted ? { deleted } : {}) };
    return ((await system.ask(connectionAddress(id), arrived)) as EventAnswer).say;
  };

  /** An event whose Command may still be carried out is handled with that, and not before. */
  const settle = (id: PublicId, eventId: string, { is }: Reaction): void => {
    if (is === 'unsure') return;
    const settled: EventSettled = { type: 'event_settled', eventId };
    system.tell(connectionAddress(id), settled);
  };

  const handle = async (id: PublicId, event: BridgeEvent): Promise<boolean> => {
    if (event.type === 'other') return true;
    const deadline = clock.now() + HANDLED_WITHIN;
    try {
      const reaction = await react(id, event);
      const say = reaction.is === 'noted' ? await note(id, event.id, reaction) : reaction.say;
      const isSaid = say === null || (await answer(id, event.id, say, deadline));
      if (reaction.is === 'stored') reaction.answered?.();
      if (isSaid && (say !== null || reaction.is === 'stored')) settle(id, event.id, reaction);
      return isSaid;
    } catch (error) {
      log('update_deferred', { connection: id, event_id: event.id, error: String(error) });
      return false;
    }
  };

  return {
    handle,
    async handleAll(id, events, { postponed, closedLanes }) {
      const lanes = new Map<string, Promise<unknown>>();
      const failed: string[] = [];
      const heldBack: string[] = [];
      const handleInOrder = async (event: BridgeEvent, mine: readonly string[]): Promise<void> => {
        const mustWait = postponed.has(event.id) || mine.some((lane) => closedLanes.has(lane));
        if (mustWait) heldBack.push(event.id);
        else if (await handle(id, event)) return;
        else failed.push(event.id);
        for (const lane of mine) closedLanes.add(lane);
      };
      const underWay = events.map((event) => {
        const mine = lanesOf(event);
        const before = mine.flatMap((lane) => lanes.get(lane) ?? []);
        const done = Promise.all(before).then(() => handleInOrder(event, mine));
        for (const lane of mine) lanes.set(lane, done);
        return done;
      });
      await Promise.all(underWay);
      return { failed, heldBack };
    },
  };
}

/** Says something to the person behind an event (bridge §7.4). */
const LONGEST_TEXT = 500;
/** Before the second and last attempt, where the bridge names no time. */
const PAUSE: Micros = 500_000;

interface Answers {
  /**
   * Gives it up when it cannot be said before the deadline.
   * @returns false when it was not tried, because the service stops
   */
  say(id: PublicId, eventId: string, text: string, deadline: Micros): Promise<boolean>;
}

export interface AnswersDeps {
  readonly bridge: BridgeClient;
  readonly infos: InfoReader;
  readonly tokens: WaitingTokens;
  readonly opener: Opener;
  readonly clock: Clock;
  readonly log: Log;
  settings(id: PublicId): Promise<BridgeSettings | null>;
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
    async say(id, eventId, text, deadline) {
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
