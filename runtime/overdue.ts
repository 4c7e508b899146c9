/**
 * Wake-ups that came due while nobody acted wait until what was stored before them is applied (internal-alerts §7
 * rule 6). After a start and after a takeover, what still waits may say that their reason is gone. They wait for at most
 * 30 s.
 */
import { type Address, type Placement, type ShardEpoch, shardOf } from './actor/index.ts';
import { type Clock, type Micros, SECOND } from './clock.ts';
import type { Log } from './log.ts';

export const LONGEST_WAIT: Micros = 30 * SECOND;
const LOOK_EVERY: Micros = SECOND / 10;

/** What waits in the database. Numbers are places in the order of arrival; null when nothing waits. */
export interface WaitingWork {
  /** Whether nobody leads, or a recorded downtime is still being told to those it concerns. */
  isDowntimeUntold(now: Micros): Promise<boolean>;
  newestSnapshot(): Promise<number | null>;
  hasSnapshots(upTo: number): Promise<boolean>;
  /** Of messages to actors of these shards, as far as they matter. */
  newestMessage(shards: readonly number[]): Promise<number | null>;
  hasMessages(shards: readonly number[], upTo: number): Promise<boolean>;
}

export interface OverdueDeps {
  /** The kinds of actors whose wake-ups wait. */
  readonly kinds: readonly string[];
  readonly placement: Pick<Placement, 'owned' | 'epochOf' | 'onChange'>;
  readonly work: WaitingWork;
  readonly clock: Clock;
  readonly log: Log;
  /** Wake-ups of some shards wait no more. */
  readonly released: () => void;
}

export interface Overdue {
  /** Whether a wake-up of this actor has to wait. From the beginning, until its shard was worked off. */
  isHeld(actor: Address): boolean;
  /** Begins to work off what is owned, and follows what is won. */
  start(): void;
  stop(): void;
}

export function createOverdue({ kinds, placement, work, clock, log, released }: OverdueDeps): Overdue {
  /** By shard: the epoch under which everything from before is applied. */
  const workedOff = new Map<number, number>();
  const underWay = new Map<number, number>();
  let stopListening: (() => void) | null = null;
  let isStopped = false;

  return {
    isHeld(actor) {
      if (!kinds.includes(actor.kind)) return false;
      const shard = shardOf(actor);
      return workedOff.get(shard) !== placement.epochOf(shard);
    },
    start() {
      stopListening = placement.onChange(follow);
      follow();
    },
    stop() {
      isStopped = true;
      stopListening?.();
    },
  };

  function follow(): void {
    const won = placement
      .owned()
      .filter(({ shard, epoch }) => workedOff.get(shard) !== epoch && underWay.get(shard) !== epoch);
    if (won.length > 0) void workOff(won);
  }

  async function workOff(won: readonly ShardEpoch[]): Promise<void> {
    for (const { shard, epoch } of won) underWay.set(shard, epoch);
    const until = clock.now() + LONGEST_WAIT;
    /** Those that were not lost meanwhile: messages of the others are somebody else's to apply. */
    const kept = () => won.filter(({ shard, epoch }) => placement.epochOf(shard) === epoch);
    const shards = () => kept().map(({ shard }) => shard);
    await whenDone(until, async () => !(await work.isDowntimeUntold(clock.now())));
    await whenDone(until, noneLeft(work.newestSnapshot, work.hasSnapshots));
    await whenDone(
      until,
      // What the Snapshots led to was committed with them.
      noneLeft(
        () => work.newestMessage(shards()),
        (upTo) => work.hasMessages(shards(), upTo),
      ),
    );
    for (const { shard, epoch } of won) {
      // One that was lost and won again has a later work of its own, which may have been faster.
      if (underWay.get(shard) !== epoch) continue;
      underWay.delete(shard);
      workedOff.set(shard, epoch);
    }
    if (!isStopped) released();
  }

  async function whenDone(until: Micros, isDone: () => Promise<boolean>): Promise<void> {
    while (!isStopped && clock.now() < until) {
      try {
        if (await isDone()) return;
      } catch (error) {
        log('store_read_failed', { what: 'waiting work', error: String(error) });
      }
      await new Promise<void>((resolve) => void clock.after(LOOK_EVERY, resolve));
    }
  }
}

/** Whether everything is gone that was there when this was first asked. */
function noneLeft(
  newest: () => Promise<number | null>,
  has: (upTo: number) => Promise<boolean>,
): () => Promise<boolean> {
  let upTo: number | null | undefined;
  return async () => {
    upTo ??= await newest();
    return upTo === null || !(await has(upTo));
  };
}
