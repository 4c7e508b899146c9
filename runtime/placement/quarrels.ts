import { type Micros, SECOND } from '../clock.ts';

/** A shard that was lost to somebody else so soon after it was taken is quarrelled for. */
const SOON: Micros = 5 * SECOND;
/** How long it is left alone, the first time and at most. */
const FIRST_REST: Micros = SECOND / 2;
const MOST_REST: Micros = 8 * SECOND;

interface Claim {
  takenAt: Micros;
  /** The last rest; 0 while nobody disputes the shard. */
  rest: Micros;
  restsUntil: Micros;
}

/**
 * Two places to meet (a failover that left two masters) may grant one shard to two members, which would take it from
 * each other in a tight loop: epochs keep that harmless, not cheap. Whoever loses a shard that it has just taken, and is
 * granted still, leaves it alone for a while, longer each time. Times are those of the monotonic clock.
 */
export class Quarrels {
  readonly #claims = new Map<number, Claim>();

  /** The epochs of the shards were raised for this member. */
  taken(shards: readonly number[], now: Micros): void {
    for (const shard of shards) {
      const { rest } = this.#claims.get(shard) ?? { rest: 0 };
      this.#claims.set(shard, { takenAt: now, rest, restsUntil: now });
    }
  }

  /** Somebody else raised the epochs of shards that this member had taken. */
  fenced(shards: readonly number[], now: Micros): void {
    for (const shard of shards) {
      const claim = this.#claims.get(shard);
      if (claim === undefined) continue;
      // While it lasts each side keeps the shard for as long as the other rests, which may be twice as long.
      const isQuarrel = now - claim.takenAt < Math.max(SOON, 4 * claim.rest);
      claim.rest = isQuarrel ? Math.min(Math.max(2 * claim.rest, FIRST_REST), MOST_REST) : 0;
      claim.restsUntil = now + claim.rest;
    }
  }

  /** What a beat found: a shard that is not granted to this member any more simply moved. */
  granted(shards: readonly number[]): void {
    const granted = new Set(shards);
    for (const shard of this.#claims.keys()) if (!granted.has(shard)) this.#claims.delete(shard);
  }

  mayTake(shard: number, now: Micros): boolean {
    const claim = this.#claims.get(shard);
    return claim === undefined || now >= claim.restsUntil;
  }
}
