/**
 * Holds overdue wake-ups back after a start or a takeover of a shard (internal-alerts §7 rule 6). A queued message may
 * cancel the reason for a timer, so overdue timers wait for it, at most 30 s.
 */
import { type Address, type Placement, type ShardEpoch, shardOf } from './actor/index.ts';
import { type Clock, type Micros, SECOND } from './clock.ts';
import type { Log } from './log.ts';

export const LONGEST_WAIT: Micros = 30 * SECOND;
const LOOK_EVERY: Micros = SECOND / 10;

/** Queued work in the database. Numbers are positions in the order of arrival; null when nothing is queued. */
export interface WaitingWork {
  /** Whether there is no Leader, or a recorded downtime is still being announced to the actors it concerns. */
  isDowntimeUntold(now: Micros): Promise<boolean>;
  newestSnapshot(): Promise<number | null>;
  hasSnapshots(upTo: number): Promise<boolean>;
  /** Of the relevant messages to actors of these shards. */
  newestMessage(shards: readonly number[]): Promise<number | null>;
  hasMessages(shards: readonly number[], upTo: number): Promise<boolean>;
}

export interface WakeupGateDeps {
  /** The kinds of actors whose wake-ups wait. */
  readonly kinds: readonly string[];
  readonly placement: Pick<Placement, 'owned' | 'epochOf' | 'onChange'>;
  readonly work: WaitingWork;
  readonly clock: Clock;
  readonly log: Log;
  /** Wake-ups of some shards are no longer held. */
  readonly released: () => void;
}

export interface WakeupGate {
  /** Whether a wake-up of this actor is held: until the queued work of its shard was applied. */
  isHeld(actor: Address): boolean;
  /** Begins with the owned shards, and follows those acquired later. */
  start(): void;
  stop(): void;
}

export function createWakeupGate({
  kinds,
  placement,
  work,
  clock,
  log,
  released,
}: WakeupGateDeps): WakeupGate {
  /** By shard: the epoch under which all queued work was applied. */
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
    /** Shards that are still owned: another process applies the messages of the others. */
    const kept = () => won.filter(({ shard, epoch }) => placement.epochOf(shard) === epoch);
    const shards = () => kept().map(({ shard }) => shard);
    await whenDone(until, async () => !(await work.isDowntimeUntold(clock.now())));
    await whenDone(until, noneLeft(work.newestSnapshot, work.hasSnapshots));
    await whenDone(
      until,
      // Messages that the Snapshots led to were committed with them, so they are queued by now.
      noneLeft(
        () => work.newestMessage(shards()),
        (upTo) => work.hasMessages(shards(), upTo),
      ),
    );
    for (const { shard, epoch } of won) {
      // A shard that was lost and acquired again has a run of its own under the newer epoch.
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

/** Whether everything that was queued at the first call is applied. */
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
