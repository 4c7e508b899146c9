/** How evenly rendezvous hashing spreads shards and actors, and what moves when replicas come and go. Pure. */
import { shardAmong } from '../../runtime/actor/index.ts';
import { targetsOf } from '../../runtime/placement/assigner.ts';
import type { Targets } from '../../runtime/placement/coordination.ts';
import { cappedTargets } from './capped.ts';

const SLACK = 0.1;

export interface Moved {
  readonly shards: number;
  readonly actors: number;
}

export interface Spread {
  readonly replicas: number;
  readonly shards: number;
  readonly leastShards: number;
  readonly mostShards: number;
  readonly leastActors: number;
  readonly mostActors: number;
  /** Actors of the fullest replica against the mean. */
  readonly fullest: number;
  /** Replicas without any shard. */
  readonly idle: number;
  readonly join: Moved;
  /** The fullest replica leaves. */
  readonly leave: Moved;
  /** All are restarted one by one under their ids; null where that was not counted. */
  readonly restart: Moved | null;
  /** What if no replica had more than a tenth over the mean: the fullest, and what a join and a leave would move. */
  readonly capped: { readonly fullest: number; readonly join: Moved; readonly leave: Moved };
  /** CPU of one calculation of all targets, ms: what the Leader does with every beat. */
  readonly assignMs: number;
}

/** Replica ids as a StatefulSet names its pods. */
export function replicaIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `tocsin-${index}`);
}

/** How many of so many Alert Groups each shard has, with ids as random as the product's. */
export function actorsByShard(actors: number, shards: number): Uint32Array {
  const counts = new Uint32Array(shards);
  for (let index = 0; index < actors; index++) {
    counts[shardAmong(shards, { kind: 'alert_group', key: `AG${scrambled(index)}` })]!++;
  }
  return counts;
}

/** 16 characters that follow from a number and look random. */
function scrambled(index: number): string {
  const high = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  const low = Math.imul(high ^ (high >>> 15), 0x85ebca6b) >>> 0;
  return high.toString(32).padStart(8, '0') + low.toString(32).padStart(8, '0');
}

/**
 * @param actors by shard
 * @param restarts whether a rolling restart is counted: two calculations a replica
 */
export function spreadOf(count: number, actors: Uint32Array, restarts: boolean): Spread {
  const shards = actors.length;
  const ids = replicaIds(count);
  const from = process.cpuUsage();
  const targets = targetsOf(ids, shards);
  const cpu = process.cpuUsage(from);
  const shardsOf = new Map(ids.map((id) => [id, 0]));
  const actorsOf = new Map(ids.map((id) => [id, 0]));
  targets.forEach((id, shard) => {
    if (id === null) return;
    shardsOf.set(id, shardsOf.get(id)! + 1);
    actorsOf.set(id, actorsOf.get(id)! + actors[shard]!);
  });
  const byActors = [...actorsOf].sort((a, b) => a[1] - b[1]);
  const byShards = [...shardsOf.values()].sort((a, b) => a - b);
  const [fullest, mostActors] = byActors.at(-1)!;
  const total = actors.reduce((sum, n) => sum + n, 0);
  return {
    replicas: count,
    shards,
    leastShards: byShards[0]!,
    mostShards: byShards.at(-1)!,
    leastActors: byActors[0]![1],
    mostActors,
    fullest: (mostActors * count) / total,
    idle: byShards.filter((n) => n === 0).length,
    join: between(targets, targetsOf([...ids, `tocsin-${count}`], shards), actors),
    leave: between(targets, targetsOf(without(ids, fullest), shards), actors),
    restart: restarts ? restarted(ids, targets, actors) : null,
    capped: cappedOf(ids, fullest, actors),
    assignMs: (cpu.user + cpu.system) / 1000,
  };
}

function cappedOf(ids: readonly string[], leaves: string, actors: Uint32Array): Spread['capped'] {
  const targets = cappedTargets(ids, actors.length, SLACK);
  const held = new Map<string | null, number>();
  targets.forEach((id, shard) => void held.set(id, (held.get(id) ?? 0) + actors[shard]!));
  const total = actors.reduce((sum, n) => sum + n, 0);
  const joined = cappedTargets([...ids, `tocsin-${ids.length}`], actors.length, SLACK);
  return {
    fullest: (Math.max(...held.values()) * ids.length) / total,
    join: between(targets, joined, actors),
    leave: between(targets, cappedTargets(without(ids, leaves), actors.length, SLACK), actors),
  };
}

/** What goes to another replica between two assignments. */
export function between(before: Targets, after: Targets, actors: Uint32Array): Moved {
  const moved = before.flatMap((id, shard) => (id === after[shard] ? [] : [shard]));
  return { shards: moved.length, actors: moved.reduce((sum, shard) => sum + actors[shard]!, 0) };
}

function restarted(ids: readonly string[], targets: Targets, actors: Uint32Array): Moved {
  let sum = { shards: 0, actors: 0 };
  for (const id of ids) {
    const away = targetsOf(without(ids, id), targets.length);
    for (const moved of [between(targets, away, actors), between(away, targets, actors)]) {
      sum = { shards: sum.shards + moved.shards, actors: sum.actors + moved.actors };
    }
  }
  return sum;
}

function without(ids: readonly string[], gone: string): string[] {
  return ids.filter((id) => id !== gone);
}
