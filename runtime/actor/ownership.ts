import { type Micros, type Monotonic, SECOND } from '../clock.ts';
import type { ActorStore, ShardEpoch } from './store.ts';

/** The shards that this process may act for: those that placement gave it, without those that a refused commit showed as lost. */
export class Ownership {
  readonly #placement: Placement;
  /** By shard: the epoch that was refused. */
  readonly #lost = new Map<number, number>();

  constructor(placement: Placement) {
    this.#placement = placement;
  }

  epochOf(shard: number): number | null {
    const epoch = this.#placement.epochOf(shard);
    return epoch === null || this.#lost.get(shard) === epoch ? null : epoch;
  }

  /** Shards owned now. */
  shards(): number[] {
    return this.#placement
      .owned()
      .filter((it) => this.#lost.get(it.shard) !== it.epoch)
      .map((it) => it.shard);
  }

  /** A commit under this epoch was refused: a newer owner exists. */
  lose(shard: number, epoch: number): void {
    this.#lost.set(shard, epoch);
  }
}

/** Says which shards this process acts for, and under which epoch. */
export interface Placement {
  /**
   * No other process can own a shard while this one runs. Large turns are committed apart only then: following a change of
   * ownership would have to wait for them.
   */
  readonly isAlone: boolean;
  /** The epoch held for a shard, or null when another process owns it. */
  epochOf(shard: number): number | null;
  /** All shards held now. */
  owned(): readonly ShardEpoch[];
  /** Calls back when shards were won or lost. Returns the way to stop listening. */
  onChange(listener: () => void): () => void;
  /** Called by the engine when it has followed every change so far: no work of a lost shard is in flight any more. */
  followed(): void;
  /**
   * Called by the engine when a commit under these epochs was refused, because another process has raised them.
   * Listeners are called only after this returns.
   */
  fenced(lost: readonly ShardEpoch[]): void;
}

/** How long a read of the epochs proves ownership (operations §5.2 rule 2). */
const GOOD_FOR: Micros = 2 * SECOND;

export interface OwnershipCheckDeps {
  readonly store: Pick<ActorStore, 'epochs'>;
  readonly ownership: Ownership;
  readonly monotonic: Monotonic;
  /** The database has newer epochs. */
  lost(epochs: readonly ShardEpoch[]): void;
}

/**
 * Checks, before an outbound call, that this process still owns a shard. Every commit confirms the epochs of its shards;
 * when the last confirmation is too old, the database is asked.
 */
export class OwnershipCheck {
  readonly #deps: OwnershipCheckDeps;
  readonly #at = new Map<number, { readonly epoch: number; readonly at: Micros }>();

  constructor(deps: OwnershipCheckDeps) {
    this.#deps = deps;
  }

  /** A commit that was begun at `at` went through under these epochs. */
  note(epochs: Iterable<readonly [shard: number, epoch: number]>, at: Micros): void {
    for (const [shard, epoch] of epochs) this.#at.set(shard, { epoch, at });
  }

  async stillOwns(shard: number): Promise<boolean> {
    const { ownership, monotonic, store, lost } = this.#deps;
    for (;;) {
      const epoch = ownership.epochOf(shard);
      if (epoch === null) return false;
      const proof = this.#at.get(shard);
      const at = monotonic();
      if (proof?.epoch === epoch && at - proof.at < GOOD_FOR) return true;
      const [newest] = await store.epochs([shard]);
      if (newest?.epoch !== epoch) {
        lost([{ shard, epoch }]);
        return false;
      }
      // The process may have been paused since it asked: the loop checks that the answer is recent enough.
      this.note([[shard, epoch]], at);
    }
  }
}
