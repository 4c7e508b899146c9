/**
 * What if no replica were given more than a little over its share? Rendezvous hashing with a cap: what is too much for
 * the first choice of a shard goes to its first choice among those with room. Not what the product does.
 */
import { targetsOf } from '../../runtime/placement/assigner.ts';
import type { Targets } from '../../runtime/placement/coordination.ts';

/** @param slack how much more than the mean one may have: 0.1 is a tenth */
export function cappedTargets(replicas: readonly string[], shards: number, slack: number): Targets {
  const most = Math.ceil(((1 + slack) * shards) / replicas.length);
  const targets: (string | null)[] = new Array(shards).fill(null);
  const given = new Map(replicas.map((id) => [id, 0]));
  while (targets.includes(null)) {
    const choices = targetsOf(
      replicas.filter((id) => given.get(id)! < most),
      shards,
    );
    choices.forEach((id, shard) => {
      if (id === null || targets[shard] !== null || given.get(id)! >= most) return;
      targets[shard] = id;
      given.set(id, given.get(id)! + 1);
    });
  }
  return targets;
}
