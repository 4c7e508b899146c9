import { type Placement, SHARDS, type ShardEpoch } from '../actor/index.ts';
import { type Clock, type Micros, SECOND, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { SessionLock } from './kept-lock.ts';
import type { EpochStore } from './shard-book.ts';

/** How often a waiting process tries the lock, and how often it says that it waits, µs (operations §5.1). */
const TRY_EVERY: Micros = SECOND;
const SAY_EVERY: Micros = 30 * SECOND;

const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard);

export interface SoloDeps {
  readonly lock: SessionLock;
  /** Who owns the shards then, as `memberText` writes it. */
  readonly owner: string;
  readonly epochs: EpochStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Placement for a single process: all shards or none. */
export interface SoloPlacement extends Placement {
  /**
   * Waits for the lock, then owns every shard under fresh epochs. When the lock's session ends it owns nothing at
   * once and waits again.
   * @returns when the shards are owned for the first time, or {@link stop} was called
   * @throws what the lock or the epochs throw before that
   */
  start(): Promise<void>;
  /** There is nobody to give anything to. */
  drain(): Promise<void>;
  /** Owns nothing from here on and gives the lock back. */
  stop(): Promise<void>;
}

export function createSoloPlacement(deps: SoloDeps): SoloPlacement {
  return new Solo(deps);
}

class Solo implements SoloPlacement {
  readonly #deps: SoloDeps;
  readonly #listeners = new Set<() => void>();
  #owned: readonly ShardEpoch[] = [];
  #byShard = new Map<number, number>();
  #isStopped = false;
  #timer: Timer | null = null;
  #endWait: (() => void) | null = null;

  constructor(deps: SoloDeps) {
    this.#deps = deps;
  }

  epochOf(shard: number): number | null {
    return this.#byShard.get(shard) ?? null;
  }

  owned(): readonly ShardEpoch[] {
    return this.#owned;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly isAlone = true;

  /** Nobody waits for this process to let go of single shards. */
  followed(): void {}

  /** The engine stops acting for them by itself; the lock decides about all of them. */
  fenced(): void {}

  async start(): Promise<void> {
    if (!(await this.#takeLock())) return;
    // Watched from before the epochs are raised: a lock lost meanwhile must not go unseen.
    const lost = this.#deps.lock.lost();
    const raised = await this.#raise();
    if (this.#isStopped) return;
    this.#own(raised);
    this.#deps.log('shards_taken', { count: raised.length, reason: 'single replica' });
    void lost.then(() => this.#lose());
  }

  async drain(): Promise<void> {}

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#endWait?.();
    this.#own([]);
    await this.#deps.lock.release();
  }

  /** Without epochs the lock is of no use, and a session that keeps it would stand in the way of the next try. */
  async #raise(): Promise<readonly ShardEpoch[]> {
    try {
      return await this.#deps.epochs.raise(ALL_SHARDS, this.#deps.owner);
    } catch (error) {
      await this.#deps.lock.release();
      throw error;
    }
  }

  /** True once the lock is held, false when stopped before. */
  async #takeLock(): Promise<boolean> {
    const { lock, clock, log } = this.#deps;
    let sayAt = clock.now();
    while (!this.#isStopped) {
      if (await lock.acquire()) {
        if (!this.#isStopped) return true;
        // It was asked for before the stop, which had nothing to give back yet.
        await lock.release();
        return false;
      }
      if (clock.now() >= sayAt) {
        log('waiting_for_single_replica');
        sayAt += SAY_EVERY;
      }
      await this.#wait();
    }
    return false;
  }

  #lose(): void {
    if (this.#isStopped) return;
    this.#own([]);
    void this.#retake();
  }

  async #retake(): Promise<void> {
    while (!this.#isStopped && this.#owned.length === 0) {
      try {
        await this.start();
        return;
      } catch (error) {
        this.#deps.log('database_unavailable', { error: String(error) });
        await this.#wait();
      }
    }
  }

  #wait(): Promise<void> {
    if (this.#isStopped) return Promise.resolve();
    return new Promise((resolve) => {
      this.#endWait = resolve;
      this.#timer = this.#deps.clock.after(TRY_EVERY, resolve);
    });
  }

  #own(owned: readonly ShardEpoch[]): void {
    this.#owned = owned;
    this.#byShard = new Map(owned.map(({ shard, epoch }) => [shard, epoch]));
    for (const listener of this.#listeners) listener();
  }
}
