/** Takes an event from a poll or a push to its end: effect and id stored together, the person answered (bridge §7.1). */
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { connectionAddress, type EventAnswer, type EventArrived, type EventSettled } from '../messages.ts';
import type { Answers } from './answers.ts';
import { type BridgeEvent, lanesOf } from './events.ts';

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
  readonly system: Pick<ActorSystem, 'ask' | 'tell'>;
  readonly answers: Answers;
  readonly clock: Clock;
  readonly log: Log;
}

export function createEventIntake({ system, answers, clock, log }: EventIntakeDeps): EventIntake {
  /** By Connection and event: one that comes by poll and push together is answered once. */
  const answering = new Map<string, Promise<boolean>>();

  const answer = (id: PublicId, eventId: string, text: string, deadline: Micros): Promise<boolean> => {
    const key = `${id} ${eventId}`;
    const saying =
      answering.get(key) ?? answers.say(id, eventId, text, deadline).finally(() => answering.delete(key));
    answering.set(key, saying);
    return saying;
  };

  const handle = async (id: PublicId, event: BridgeEvent): Promise<boolean> => {
    if (event.type === 'other') return true;
    const deadline = clock.now() + HANDLED_WITHIN;
    const actor = connectionAddress(id);
    const arrived: EventArrived = { type: 'event', event };
    const settled: EventSettled = { type: 'event_settled', eventId: event.id };
    try {
      const { say } = (await system.ask(actor, arrived)) as EventAnswer;
      if (say === null) return true;
      if (!(await answer(id, event.id, say, deadline))) return false;
      system.tell(actor, settled);
      return true;
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
