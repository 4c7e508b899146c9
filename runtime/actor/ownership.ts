import type { Placement } from './placement.ts';

/** Which shards this process may act for: those it was given, except those the store says it lost since. */
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
