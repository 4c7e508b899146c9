/** Which replica shall act for which shard: rendezvous hashing (operations §5.2 rule 1). Pure. */
import { SHARDS } from '../actor/index.ts';
import type { Targets } from './coordination.ts';

/**
 * Every shard goes to the replica that scores highest for it. A replica that comes takes only shards for itself, one
 * that leaves gives away only its own, and everybody who knows the same replicas finds the same targets.
 * @param replicas ids, in any order
 * @param shards how many there are; another number than the product's answers "what if"
 */
export function targetsOf(replicas: readonly string[], shards = SHARDS): Targets {
  const seeds = [...new Set(replicas)].sort().map((id) => ({ id, seed: seedOf(id) }));
  return Array.from({ length: shards }, (_, shard) => {
    let best: string | null = null;
    let most = -1;
    for (const { id, seed } of seeds) {
      const score = scoreOf(seed, shard);
      if (score <= most) continue;
      most = score;
      best = id;
    }
    return best;
  });
}

export function sameTargets(a: Targets, b: Targets): boolean {
  return a.length === b.length && a.every((id, shard) => id === b[shard]);
}

/** FNV-1a over UTF-16 code units, 32 bits. */
function seedOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) {
    hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Mixes until every bit of the outcome depends on every bit of both (MurmurHash3's finaliser, twice). */
function scoreOf(seed: number, shard: number): number {
  return mixed(mixed(seed) ^ Math.imul(shard + 1, 0x9e3779b1));
}

function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
