/** Takes what happened in a messenger to its end: effect and id stored together, the person answered (bridge §7.1). */
import type { ActorSystem } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  connectionAddress,
  type EventAnswer,
  type EventArrived,
  type EventSettled,
} from '../connection/messages.ts';
import type { Reaction } from './press.ts';

/** For all of one event. */
const HANDLED_WITHIN: Micros = 10 * SECOND;

/** As its channel reads it; each has an id by which a repeat is known. */
export interface Identified {
  readonly id: string;
}

export interface EventIntake<Event extends Identified> {
  /** False: it failed and has to come again. Never throws. */
  handle(id: PublicId, event: Event): Promise<boolean>;
  /** Handles events of a page: those of one lane in order, the others side by side. */
  handleAll(id: PublicId, events: readonly Event[], page: PageProgress): Promise<NotHandled>;
}

/** What is known of a page while its events are handled portion by portion. */
export interface PageProgress {
  /** Ids of events that failed before and are not to be tried this time. */
  readonly postponed: ReadonlySet<string>;
  /** Lanes of events that were not handled: what comes after these waits for them. Grows. */
  readonly closedLanes: Set<string>;
}

/** Ids of events that have to come again. */
export interface NotHandled {
  readonly failed: readonly string[];
  /** Not tried: postponed, or behind one that was not handled. */
  readonly heldBack: readonly string[];
}

export interface Said {
  readonly text: string;
  readonly deadline: Micros;
  /** What the person asked for is so. */
  readonly isDone: boolean;
}

export interface EventIntakeDeps<Event extends Identified> {
  /**
   * @returns null: it is nothing to us
   * @throws when something needed cannot be reached: the event has to come again
   */
  react(connectionId: PublicId, event: Event): Promise<Reaction | null>;
  /** Where an event has to wait for others. */
  lanesOf(event: Event): readonly string[];
  /**
   * Tells the person behind it; gives it up when it cannot be told before the deadline.
   * @returns false when it was not tried, because the service stops
   */
  say(id: PublicId, event: Event, said: Said): Promise<boolean>;
  readonly system: Pick<ActorSystem, 'ask' | 'tell'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function createEventIntake<Event extends Identified>(
  deps: EventIntakeDeps<Event>,
): EventIntake<Event> {
  const { system, clock, log } = deps;
  /** By Connection and event: one that comes by poll and push together is answered once. */
  const answering = new Map<string, Promise<boolean>>();

  const answer = (id: PublicId, event: Event, said: Said): Promise<boolean> => {
    const key = `${id} ${event.id}`;
    const saying = answering.get(key) ?? deps.say(id, event, said).finally(() => answering.delete(key));
    answering.set(key, saying);
    return saying;
  };

  /** @returns what is to be said: of an event that was noted before, what is left of that */
  const note = async (
    id: PublicId,
    eventId: string,
    { say, deleted, copy }: Extract<Reaction, { is: 'noted' }>,
  ): Promise<string | null> => {
    const told = { ...(deleted ? { deleted } : {}), ...(copy ? { copy } : {}) };
    const arrived: EventArrived = { type: 'event', eventId, say, ...told };
    return ((await system.ask(connectionAddress(id), arrived)) as EventAnswer).say;
  };

  /** An event whose Command may still be carried out is handled with that, and not before. */
  const settle = (id: PublicId, eventId: string, { is }: Reaction): void => {
    if (is === 'unsure') return;
    const settled: EventSettled = { type: 'event_settled', eventId };
    system.tell(connectionAddress(id), settled);
  };

  const handle = async (id: PublicId, event: Event): Promise<boolean> => {
    const deadline = clock.now() + HANDLED_WITHIN;
    try {
      const reaction = await deps.react(id, event);
      if (!reaction) return true;
      const say = reaction.is === 'noted' ? await note(id, event.id, reaction) : reaction.say;
      const isDone = reaction.is === 'stored' && reaction.isDone === true;
      const isSaid = say === null || (await answer(id, event, { text: say, deadline, isDone }));
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
      const handleInOrder = async (event: Event, mine: readonly string[]): Promise<void> => {
        const mustWait = postponed.has(event.id) || mine.some((lane) => closedLanes.has(lane));
        if (mustWait) heldBack.push(event.id);
        else if (await handle(id, event)) return;
        else failed.push(event.id);
        for (const lane of mine) closedLanes.add(lane);
      };
      const underWay = events.map((event) => {
        const mine = deps.lanesOf(event);
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
