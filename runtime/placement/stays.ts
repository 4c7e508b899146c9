import type { Micros, Monotonic } from '../clock.ts';
import { CALLS_WITHIN } from './lease-times.ts';

export interface StaysDeps {
  readonly monotonic: Monotonic;
  isCalling(shard: number): boolean;
}

/** Shards that are wanted elsewhere stay for a moment while calls of theirs are under way. */
export class Stays {
  readonly #deps: StaysDeps;
  readonly #since = new Map<number, Micros>();

  constructor(deps: StaysDeps) {
    this.#deps = deps;
  }

  get isWaiting(): boolean {
    return this.#since.size > 0;
  }

  /**
   * @param wanted all shards that are wanted elsewhere now
   * @returns those whose calls are over, and those that have waited long enough for it
   */
  over(wanted: readonly number[]): number[] {
    const now = this.#deps.monotonic();
    const still = new Set(wanted);
    for (const shard of this.#since.keys()) if (!still.has(shard)) this.#since.delete(shard);
    return wanted.filter((shard) => {
      const since = this.#since.get(shard) ?? now;
      const stays = this.#deps.isCalling(shard) && now - since < CALLS_WITHIN;
      if (stays) this.#since.set(shard, since);
      else this.#since.delete(shard);
      return !stays;
    });
  }
}
