/**
 * Where received Snapshots wait for their commit. One transaction is under way at a time; everything that arrives
 * meanwhile goes with the next one, so the cost of a commit is shared by as many as are waiting (ingestion §3).
 *
 * Senders that were answered together send again together. The next transaction waits for as many as the last one and
 * its queue held, for about a millisecond: half of them each time would cost twice the commits. A lone sender, and a
 * queue that is long already, wait for nothing.
 */
import type { NewSnapshot, SnapshotWriter } from '../../actors/feed/ports.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../../runtime/clock.ts';

/** ingest.accept_queue: requests from their first byte to their answer, and the bodies they hold. */
export const ACCEPT_QUEUE_REQUESTS = 10_000;
export const ACCEPT_QUEUE_BYTES = 64 * 1024 * 1024;
/** How long the look-up of a token may take (ingestion §3). */
export const LOOKUP_TIMEOUT: Micros = 5 * SECOND;
/** ingest.write_timeout. */
export const WRITE_TIMEOUT: Micros = 10 * SECOND;

/** What one transaction takes: enough to share a flush, little enough to answer soon. */
const BATCH_SNAPSHOTS = 1_000;
const BATCH_BYTES = 8 * 1024 * 1024;

/** How many a transaction waits for at most, and how long, µs. */
const GATHER_SNAPSHOTS = 64;
const GATHER_WAIT: Micros = 0.001 * SECOND;

export type WriteOutcome = 'accepted' | 'unavailable' | 'failed';

/** A Snapshot with the number it was stored under. */
export interface StoredSnapshot extends NewSnapshot {
  readonly seq: number;
}

export interface AcceptQueueDeps {
  readonly writer: SnapshotWriter;
  readonly clock: Clock;
  /** Whether an error means that the database cannot be reached or cannot serve now. */
  readonly isUnavailable: (error: unknown) => boolean;
  /** Gets what was committed, in order, after the answers and once the next transaction is on its way. */
  readonly committed: (snapshots: readonly StoredSnapshot[]) => void;
  /** A write failed; what it held may be stored all the same. */
  readonly uncertain: (error: unknown) => void;
}

export interface AcceptQueue {
  /** Whether one more request may come in. */
  admits(): boolean;
  /** Whether `bytes` more of a body may be held. */
  fits(bytes: number): boolean;
  /** Counts a request in, until {@link leave}. */
  enter(): void;
  leave(): void;
  /** Counts bytes of bodies that are held; negative to let go. */
  hold(bytes: number): void;
  /** Queues a Snapshot; `done` is called once. Its bytes must be counted already. */
  put(snapshot: NewSnapshot, done: (outcome: WriteOutcome) => void): void;
  /** Requests between their head and their answer. */
  readonly size: number;
  /** Resolves when every request was answered and nothing is being written. */
  drained(): Promise<void>;
}

interface Waiting {
  readonly snapshot: NewSnapshot;
  readonly since: Micros;
  /** Null once answered. */
  done: ((outcome: WriteOutcome) => void) | null;
}

export function createAcceptQueue(deps: AcceptQueueDeps): AcceptQueue {
  const { writer, clock } = deps;
  let waiting: Waiting[] = [];
  let writing: readonly Waiting[] = [];
  let requests = 0;
  let bytes = 0;
  let isPumpDue = false;
  /** Runs while the next transaction waits for {@link expected} Snapshots. */
  let gathering: Timer | null = null;
  let expected = 0;
  /** What follows the transactions that ended, in their order. */
  let following: (() => void)[] = [];
  let isExpiryDue = false;
  let idle: (() => void)[] = [];

  return {
    admits: () => requests < ACCEPT_QUEUE_REQUESTS,
    fits: (more) => bytes + more <= ACCEPT_QUEUE_BYTES,
    enter() {
      requests += 1;
    },
    leave() {
      requests -= 1;
      if (isIdle()) wake();
    },
    hold(more) {
      bytes += more;
    },
    put(snapshot, done) {
      waiting.push({ snapshot, since: clock.now(), done });
      expireAfter(WRITE_TIMEOUT);
      if (writing.length > 0) return;
      if (gathering === null || waiting.length >= expected) pumpSoon();
    },
    get size() {
      return requests;
    },
    drained() {
      if (isIdle()) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };

  function isIdle(): boolean {
    return requests + waiting.length + writing.length + following.length === 0;
  }

  function wake(): void {
    for (const resolve of idle) resolve();
    idle = [];
  }

  /** At the end of this round of the event loop, so that requests read together are written together. */
  function pumpSoon(): void {
    if (isPumpDue) return;
    isPumpDue = true;
    setImmediate(() => {
      isPumpDue = false;
      gathering?.cancel();
      gathering = null;
      pump();
      followSoon();
    });
  }

  function pump(): void {
    if (writing.length > 0) return;
    if (waiting.length === 0) {
      if (isIdle()) wake();
      return;
    }
    const batch = take();
    writing = batch;
    writer.write(batch.map(({ snapshot }) => snapshot)).then(
      (seqs) => finish(batch, 'accepted', () => deps.committed(numbered(batch, seqs))),
      (error) =>
        finish(batch, deps.isUnavailable(error) ? 'unavailable' : 'failed', () => deps.uncertain(error)),
    );
  }

  /** The next transaction starts before the answers of this one are written, unless it waits for who gets them. */
  function finish(batch: readonly Waiting[], outcome: WriteOutcome, then: () => void): void {
    writing = [];
    following.push(then);
    expected = Math.min(batch.length + waiting.length, GATHER_SNAPSHOTS);
    if (expected > 1 && waiting.length < expected) gathering = clock.after(GATHER_WAIT, pumpSoon);
    else pump();
    for (const item of batch) {
      bytes -= item.snapshot.body.length;
      answer(item, outcome);
    }
    if (gathering === null) followSoon();
  }

  /** A round of the event loop later, when the driver has sent what the transaction began with. */
  function followSoon(): void {
    if (following.length === 0) return;
    setImmediate(() => {
      const due = following;
      following = [];
      for (const follow of due) follow();
      if (isIdle()) wake();
    });
  }

  function take(): Waiting[] {
    let size = 0;
    let count = 0;
    for (const { snapshot } of waiting) {
      size += snapshot.body.length;
      if (count > 0 && (size > BATCH_BYTES || count >= BATCH_SNAPSHOTS)) break;
      count += 1;
    }
    if (count === waiting.length) {
      const all = waiting;
      waiting = [];
      return all;
    }
    return waiting.splice(0, count);
  }

  function expireAfter(delay: Micros): void {
    if (isExpiryDue) return;
    isExpiryDue = true;
    clock.after(delay, expire);
  }

  /** Answers those that waited too long. What is not being written yet will never be. */
  function expire(): void {
    isExpiryDue = false;
    const now = clock.now();
    const isExpired = ({ since }: Waiting) => now - since >= WRITE_TIMEOUT;
    for (const item of writing) if (isExpired(item)) answer(item, 'unavailable');
    const expired = waiting.filter(isExpired);
    waiting = waiting.slice(expired.length);
    for (const item of expired) {
      bytes -= item.snapshot.body.length;
      answer(item, 'unavailable');
    }
    const oldest = writing.find(({ done }) => done !== null) ?? waiting[0];
    if (oldest) expireAfter(oldest.since + WRITE_TIMEOUT - now);
  }
}

function answer(item: Waiting, outcome: WriteOutcome): void {
  const { done } = item;
  item.done = null;
  done?.(outcome);
}

function numbered(batch: readonly Waiting[], seqs: readonly number[]): StoredSnapshot[] {
  return batch.map(({ snapshot }, index) => {
    const seq = seqs[index];
    if (seq === undefined) throw new Error('the writer gave fewer numbers than it was given Snapshots');
    return { ...snapshot, seq };
  });
}

/** Something took longer than its bound; it may still happen. */
export class LateError extends Error {
  override readonly name = 'LateError';
}

/**
 * What `work` comes to, as long as that is within `limit` µs.
 * @throws {LateError} afterwards
 */
export function within<T>(clock: Clock, limit: Micros, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(limit, () => reject(new LateError(`no answer within ${limit / 1000} ms`)));
    work.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
