/** Takes an event from a poll or a push to its end: effect and id stored together, the person answered (bridge §7.1). */
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { connectionAddress, type EventAnswer, type EventArrived, type EventSettled } from '../messages.ts';
import type { Answers } from './answers.ts';
import { type BridgeEvent, lanesOf } from './events.ts';
import type { React, Reaction } from './reactions/index.ts';

/** For all of one event. */
const HANDLED_WITHIN: Micros = 10 * SECOND;

export interface EventIntake {
  /** False: it failed and has to come again. Never throws. */
  handle(id: PublicId, event: BridgeEvent): Promise<boolean>;
  /**
   * Handles the events of a page: those of one message and of one person in order, the others side by side.
   * @returns ids of those that have to come again
   */
  handleAll(id: PublicId, events: readonly BridgeEvent[]): Promise<readonly string[]>;
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
      log('update_deferred', { connection: id, event: event.id, error: String(error) });
      return false;
    }
  };

  return {
    handle,
    async handleAll(id, events) {
      const lanes = new Map<string, Promise<unknown>>();
      const failed: string[] = [];
      const underWay = events.map((event) => {
        const mine = lanesOf(event);
        const before = mine.flatMap((lane) => lanes.get(lane) ?? []);
        const done = Promise.all(before)
          .then(() => handle(id, event))
          .then((isHandled) => {
            if (!isHandled) failed.push(event.id);
          });
        for (const lane of mine) lanes.set(lane, done);
        return done;
      });
      await Promise.all(underWay);
      return failed;
    },
  };
}
