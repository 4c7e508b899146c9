/**
 * Polls of messengers (bridge §7.2, channel-bot §4.1): performs one that a Connection committed, handles what it
 * brought, and tells the Connection what came of it. The channel makes the call.
 */
import { setImmediate } from 'node:timers/promises';
import type { ActorSystem } from '../../runtime/actor/index.ts';
import type { Clock, Micros } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { PollBegun } from '../connection/effects.ts';
import { connectionAddress, type PollFinished, type PollOutcome } from '../connection/messages.ts';
import type { EventIntake, Identified } from './intake.ts';

/** Events of a page that are handled side by side: fewer than may wait for one actor, since pushed ones come, too. */
const PORTION = 50;
/** Ids remembered of a page that is polled again; the events beyond are looked up each time. */
const MOST_REMEMBERED = 10_000;
const NONE: ReadonlySet<string> = new Set();

export interface PollerDeps<Event extends Identified> {
  /**
   * Makes the call, unless the Connection was saved meanwhile.
   * @param stillMine whether this process has the Connection; asked right before the call
   * @returns null: the poll has no outcome, because the service stops or another replica polls
   */
  fetch(effect: PollBegun, stillMine: () => Promise<boolean>): Promise<Page | PollOutcome | null>;
  /** Null for what can never be handled. */
  readEvent(value: unknown, now: Micros, effect: PollBegun): Event | null;
  /** Told of everything that arrived, before any of it is handled. */
  arrived?(id: PublicId, events: readonly Event[], effect: PollBegun): void;
  readonly intake: Pick<EventIntake<Event>, 'handleAll'>;
  readonly system: Pick<ActorSystem, 'tell' | 'stillOwns'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Page {
  readonly is: 'page';
  readonly sent: readonly unknown[];
  /** Behind its last event. */
  readonly cursor: string;
  /** As many events as fit into one page. */
  readonly isFull: boolean;
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

export function createPoller<Event extends Identified>(deps: PollerDeps<Event>): Poller {
  const { system, clock, log } = deps;
  /** Per Connection whose last page has to come again. */
  const unfinished = new Map<PublicId, UnfinishedPage>();
  let isStopped = false;

  const run = async (effect: PollBegun): Promise<PollOutcome | null> => {
    const { connectionId } = effect;
    // A process that was paused may have lost the Connection: then its new owner polls.
    const fetched = await deps.fetch(effect, () => system.stillOwns(connectionAddress(connectionId)));
    if (isStopped) return null;
    if (fetched?.is === 'page') return handled(effect, fetched);
    if (fetched === null || fetched.is === 'lost') unfinished.delete(connectionId);
    return fetched;
  };

  const handled = async (effect: PollBegun, { sent, cursor, isFull }: Page): Promise<PollOutcome> => {
    const { connectionId: id, access, cursor: polledFrom, postponed } = effect;
    const before = handledBefore(unfinished.get(id), access, polledFrom);
    const page = { postponed: new Set(postponed), closedLanes: new Set<string>() };
    const remembered = new Set<string>();
    const remember = (eventId: string) => remembered.size < MOST_REMEMBERED && remembered.add(eventId);
    const ids: string[] = [];
    const heldBack: string[] = [];
    let dropped = 0;
    if (deps.arrived) {
      const all = sent.flatMap((value) => deps.readEvent(value, clock.now(), effect) ?? []);
      deps.arrived(id, all, effect);
    }
    for (let begin = 0; begin < sent.length; begin += PORTION) {
      // A page can hold many thousands: between portions everybody else gets a turn.
      if (begin > 0) await setImmediate();
      const values = sent.slice(begin, begin + PORTION);
      const read = values.flatMap((value) => deps.readEvent(value, clock.now(), effect) ?? []);
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
      return { is: 'passed', cursor, brought: sent.length > 0, isFull };
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
