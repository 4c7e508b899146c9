import { type Micros, SECOND } from '../clock.ts';

/** A shard lost this soon after it was taken counts as contested. */
const CONTESTED_WITHIN: Micros = 5 * SECOND;
/** Backoff before a contested shard is taken again: initial and maximum. */
const FIRST_BACKOFF: Micros = SECOND / 2;
const MOST_BACKOFF: Micros = 8 * SECOND;

interface Claim {
  takenAt: Micros;
  /** The last backoff; 0 while the shard is not contested. */
  backoff: Micros;
  notBefore: Micros;
}

/**
 * Exponential backoff for shards that two members are granted at once. Two Redis masters after a failover can grant one
 * shard to two members, which then take it from each other in a tight loop: safe because of the epochs, but expensive. A
 * member that loses a shard it has just taken, and is still granted it, waits before it takes the shard again. Times are
 * of the monotonic clock.
 */
export class ContestedShards {
  readonly #claims = new Map<number, Claim>();

  /** The epochs of the shards were raised for this member. */
  taken(shards: readonly number[], now: Micros): void {
    for (const shard of shards) {
      const { backoff } = this.#claims.get(shard) ?? { backoff: 0 };
      this.#claims.set(shard, { takenAt: now, backoff, notBefore: now });
    }
  }

  /** Another member raised the epochs of shards that this member had taken. */
  fenced(shards: readonly number[], now: Micros): void {
    for (const shard of shards) {
      const claim = this.#claims.get(shard);
      if (claim === undefined) continue;
      // Each side holds the shard while the other backs off, whose backoff may be twice as long as the own one.
      const isContested = now - claim.takenAt < Math.max(CONTESTED_WITHIN, 4 * claim.backoff);
      claim.backoff = isContested ? Math.min(Math.max(2 * claim.backoff, FIRST_BACKOFF), MOST_BACKOFF) : 0;
      claim.notBefore = now + claim.backoff;
    }
  }

  /** A beat returned these grants: a shard that is no longer granted to this member has moved and is not contested. */
  granted(shards: readonly number[]): void {
    const granted = new Set(shards);
    for (const shard of this.#claims.keys()) if (!granted.has(shard)) this.#claims.delete(shard);
  }

  mayTake(shard: number, now: Micros): boolean {
    const claim = this.#claims.get(shard);
    return claim === undefined || now >= claim.notBefore;
  }
}
