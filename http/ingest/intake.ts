/** How durable Snapshots reach their feeds: what both ways share, and what the rest of ingestion sees of them. */
import { failureReason } from '../../actors/feed/body.ts';
import { feedKey } from '../../actors/feed/identity.ts';
import { feedAddress, type SnapshotReceived } from '../../actors/feed/messages.ts';
import type { FailedSnapshot, QueuedSnapshot, SnapshotQueue } from '../../actors/feed/ports.ts';
import type { ParsedBody } from '../../actors/feed/snapshot.ts';
import { type ActorSystem, UnavailableError } from '../../runtime/actor/index.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { StoredSnapshot } from './accept-queue.ts';
import type { IngestMetrics } from './metrics.ts';

/** Hands durable Snapshots to their feeds, each once and those of a feed in order of arrival (ingestion §5). */
export interface Intake {
  /** Begins with what the last process left. Before, Snapshots only gather in the database. */
  start(): void;
  /** Hands on nothing more; what waits stays in the database. */
  stop(): void;
  /** Newly committed Snapshots, in order. */
  accepted(snapshots: readonly StoredSnapshot[]): void;
  /** A write failed, and what it held may be stored all the same. */
  uncertain(): void;
  /** This process committed Snapshots of these shards together with something else (internal-alerts §2.1 rule 2). */
  stored(shards: readonly number[]): void;
  /** Another replica says that it stored Snapshots of these shards; of any shard when not given. */
  poke(shards?: readonly number[]): void;
}

/** What handing on needs of a Snapshot besides what its body says. */
export type Arrived = Pick<QueuedSnapshot, 'seq' | 'id' | 'integrationId' | 'receivedAt' | 'replayed'>;

/** Snapshots read back from the queue at a time. */
export const PAGE_SNAPSHOTS = 500;

/**
 * Numbers of the Snapshots that were handed on and are not settled. A page that is being read when one is settled may
 * still show it, and must not bring it back: such numbers are forgotten only when the reading is over.
 */
export class UnderWay {
  readonly #numbers = new Set<number>();
  #settled: number[] = [];
  #readings = 0;

  has(seq: number): boolean {
    return this.#numbers.has(seq);
  }

  add(seq: number): void {
    this.#numbers.add(seq);
  }

  settled(seq: number): void {
    if (this.#readings > 0) this.#settled.push(seq);
    else this.#numbers.delete(seq);
  }

  /** It stays stored, and is to be handed on again. */
  givenBack(seq: number): void {
    this.#numbers.delete(seq);
  }

  /** Runs what reads a page and hands it on. */
  async whileReading(read: () => Promise<void>): Promise<void> {
    this.#readings += 1;
    try {
      await read();
    } finally {
      this.#readings -= 1;
      if (this.#readings === 0) this.#forget();
    }
  }

  #forget(): void {
    for (const seq of this.#settled) this.#numbers.delete(seq);
    this.#settled = [];
  }
}

/** How many messages may wait for a turn before Snapshots stay in the database (operations §5.6). */
const BACKLOG_LIMIT = 4_000;

export interface HandOnDeps extends FailuresDeps {
  readonly system: Pick<ActorSystem, 'deliver' | 'backlog'>;
}

export type HandedOn =
  | { readonly kind: 'settled' }
  /** The feed is in the care of nobody here. The Snapshot stays stored. */
  | { readonly kind: 'refused'; readonly error: Error };

export interface HandOn {
  /** Resolves when the Snapshot is settled, or will not be by this. */
  handOn(arrived: Arrived, parsed: ParsedBody): Promise<HandedOn>;
  /** Whether so much waits for a turn that Snapshots are better left in the database. */
  isBehind(): boolean;
}

export function createHandOn(deps: HandOnDeps): HandOn {
  const { system, clock } = deps;
  const failures = createFailures(deps);

  return {
    async handOn(arrived, parsed) {
      try {
        await settle(arrived, parsed);
      } catch (error) {
        if (error instanceof UnavailableError) return { kind: 'refused', error };
        // Not even setting it aside was possible with what was read of it.
        await fail(arrived, failureReason(error));
      }
      return { kind: 'settled' };
    },
    isBehind: () => system.backlog() + failures.waiting() >= BACKLOG_LIMIT,
  };

  function fail({ seq, id, integrationId }: Arrived, error: string): Promise<void> {
    return failures.settle({ seq, at: clock.now(), error }, integrationId, id);
  }

  function settle(arrived: Arrived, parsed: ParsedBody): Promise<void> {
    const { seq, id, integrationId, receivedAt } = arrived;
    if (!parsed.ok) return fail(arrived, parsed.error);
    const { snapshot } = parsed;
    const to = feedAddress(feedKey(integrationId, snapshot.groupKeyHash));
    const message: SnapshotReceived = {
      type: 'snapshot',
      seq,
      snapshotId: id,
      receivedAt,
      snapshot,
      replayed: arrived.replayed === true,
    };
    return system.deliver(to, message, { kind: 'snapshot', seq, receivedAt });
  }
}

/** Settles Snapshots whose body is no Snapshot, many in one transaction (ingestion §4.2). */
const FAILED_AT_ONCE = 500;

interface FailuresDeps {
  readonly queue: Pick<SnapshotQueue, 'fail'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: IngestMetrics;
}

export interface Failures {
  /** Resolves when the Snapshot is failed; a lost connection only delays that. */
  settle(failure: FailedSnapshot, integrationId: PublicId, snapshotId: PublicId): Promise<void>;
  /** How many are not settled yet. */
  waiting(): number;
}

interface Noted extends FailedSnapshot {
  readonly integrationId: PublicId;
  readonly snapshotId: PublicId;
  readonly done: () => void;
}

function createFailures({ queue, clock, log, metrics }: FailuresDeps): Failures {
  let waiting: Noted[] = [];
  let isWriting = false;

  return {
    settle(failure, integrationId, snapshotId) {
      return new Promise((done) => {
        waiting.push({ ...failure, integrationId, snapshotId, done });
        if (!isWriting) void writeAll();
      });
    },
    waiting: () => waiting.length,
  };

  async function writeAll(): Promise<void> {
    isWriting = true;
    const pauses = createPauses(clock);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, FAILED_AT_ONCE);
      try {
        await queue.fail(batch);
      } catch (error) {
        log('ingest_failed', { error: String(error) });
        await pauses.next();
        continue;
      }
      pauses.reset();
      waiting = waiting.slice(batch.length);
      for (const noted of batch) report(noted);
    }
    isWriting = false;
  }

  function report({ integrationId, snapshotId, error, done }: Noted): void {
    metrics.failed(integrationId);
    log('snapshot_failed', { integration: integrationId, stored_snapshot: snapshotId, error });
    done();
  }
}

const FIRST: Micros = SECOND;
const MOST: Micros = 60 * SECOND;

/** How long to wait before looking whether the feeds have caught up, µs. */
export const BEHIND_PAUSE: Micros = 20_000;
/** How often the whole queue is looked through for what nobody works on, µs. */
export const SWEEP_INTERVAL: Micros = 30 * SECOND;

/** Waits `length` µs. */
export function pause(clock: Clock, length: Micros): Promise<void> {
  return new Promise((resolve) => clock.after(length, resolve));
}

/** Calls `run` every `interval` µs. Returns the way to end that. */
export function repeat(clock: Clock, interval: Micros, run: () => void): () => void {
  let timer = clock.after(interval, tick);
  return () => timer.cancel();

  function tick(): void {
    timer = clock.after(interval, tick);
    run();
  }
}

/** The pauses between attempts while the database is away: 1 s, doubling to 60 s (ingestion §4.2). */
export interface Pauses {
  next(): Promise<void>;
  /** After an attempt that succeeded. */
  reset(): void;
}

export function createPauses(clock: Clock): Pauses {
  let length = FIRST;
  return {
    next() {
      const current = length;
      length = Math.min(length * 2, MOST);
      return pause(clock, current);
    },
    reset() {
      length = FIRST;
    },
  };
}
