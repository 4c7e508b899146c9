/** What the real placement of one member makes of a beat's answer, in CPU, by the number of members. */

import { targetsOf } from '../../runtime/placement/assigner.ts';
import type { Coordination, Picture } from '../../runtime/placement/coordination.ts';
import { LOOK_EVERY } from '../../runtime/placement/lease-times.ts';
import { createLeasedPlacement } from '../../runtime/placement/leased.ts';
import { World } from '../../test/simulation/world.ts';
import { replicaIds } from './spread.ts';

const BEATS = 60;

export interface FollowCost {
  readonly replicas: number;
  readonly shards: number;
  /** CPU a beat of a member and of the Leader, µs. */
  readonly memberMicros: number;
  readonly leaderMicros: number;
}

export async function measureFollowing(replicas: number, shards: number): Promise<FollowCost> {
  const ids = replicaIds(replicas);
  return {
    replicas,
    shards,
    memberMicros: await cpuOfBeat(ids, shards, ids.at(-1)!),
    leaderMicros: await cpuOfBeat(ids, shards, ids[0]!),
  };
}

/** The first of the ids leads. Nothing changes from beat to beat; every answer is a new one, as from a connection. */
async function cpuOfBeat(ids: readonly string[], shards: number, id: string): Promise<number> {
  const world = new World(1, false, Number.MAX_SAFE_INTEGER);
  const targets = targetsOf(ids, shards);
  const granted = targets.flatMap((target, shard) => (target === id ? [shard] : []));
  const answer = (): Picture => ({
    replicas: ids.map((it) => ({ id: it, boot: '1', version: '1.0.0', isDraining: false })),
    leader: { id: ids[0]!, boot: '1' },
    generation: 1,
    targets: [...targets],
    granted: [...granted],
  });
  const coordination: Coordination = {
    beat: async () => answer(),
    assign: async () => true,
    release: async () => undefined,
    leave: async () => undefined,
    onChange: () => () => undefined,
  };
  const placement = createLeasedPlacement({
    ...{ me: { id, boot: '1' }, version: '1.0.0', coordination, shards },
    epochs: {
      raise: async (raised) => raised.map((shard) => ({ shard, epoch: 1 })),
      newest: async () => [],
      ownedBy: async () => [],
    },
    database: { arrive: true, areMissing: false },
    records: { live: async () => [], leaders: async () => [], orphans: async () => [] },
    clock: world.clock,
    monotonic: () => world.now,
    log: () => undefined,
    metrics: { moved: () => undefined, watchShards: () => undefined },
    isCalling: () => false,
  });
  await placement.start();
  const beats = (count: number) => world.runUntil(() => false, world.now + count * LOOK_EVERY);
  await beats(BEATS);
  const from = process.cpuUsage();
  await beats(BEATS);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / BEATS;
}
