import { SHARDS } from '../../runtime/actor/index.ts';
import { targetsOf } from '../../runtime/placement/assigner.ts';
import type { SimReplica } from './replica.ts';

/** What is wrong with who owns what: every shard has the one owner that rendezvous hashing says, one member leads. */
export function misplaced(members: readonly SimReplica[], epochs: readonly number[]): string | null {
  if (!members.every((it) => it.isServing)) return 'some are starting';
  const leaders = members.filter((it) => it.placement.leadership.isLeader).length;
  if (leaders !== 1) return `${leaders} lead`;
  const targets = targetsOf(members.map(({ me }) => me.id));
  for (let shard = 0; shard < SHARDS; shard++) {
    const owners = members.filter((it) => it.placement.epochOf(shard) === epochs[shard]);
    if (owners.length !== 1) return `shard ${shard} has ${owners.length} owners`;
    if (owners[0]!.me.id !== targets[shard]) return `shard ${shard} is not with ${targets[shard]}`;
  }
  return null;
}
