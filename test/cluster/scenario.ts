/** What every cluster test has around its own story: a cluster under load, and the comparison afterwards. */

import { expect } from 'vitest';
import { Cluster, type ClusterOptions } from '../harness/cluster.ts';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { type Consistency, checkConsistency } from '../harness/consistency.ts';
import { randomSource } from '../harness/random.ts';
import type { Replica } from '../harness/replica.ts';
import { Traffic, type TrafficOptions } from '../harness/traffic.ts';
import { until } from '../harness/until.ts';
import { Witness } from '../harness/witness.ts';
import { seedOfRun } from '../simulation/random.ts';

/** A failing run is run again with CLUSTER_SEED. */
export const seed = seedOfRun(process.env.CLUSTER_SEED);

export interface Stage {
  readonly cluster: Cluster;
  readonly traffic: Traffic;
  readonly witness: Witness;
  readonly random: () => number;
}

export interface ScenarioOptions extends ClusterOptions {
  readonly load?: Omit<TrafficOptions, 'random'>;
  /** What people set up before the load begins, besides what every cluster has. */
  readonly setUp?: (cluster: Cluster) => Promise<void>;
}

/**
 * Plays a story on a cluster under load. Afterwards every replica must be ready again, nothing may be lost or repeated,
 * and the witness must have seen one committer a shard and epoch.
 * @param play must leave nothing broken: what it took away it brings back. It may end the load itself
 */
export async function underLoad(
  options: ScenarioOptions,
  play: (stage: Stage) => Promise<void>,
): Promise<Consistency> {
  const random = randomSource(seed);
  const cluster = await Cluster.start(options);
  try {
    const witness = await Witness.install(cluster.sql);
    await evenlySpread(cluster);
    await options.setUp?.(cluster);
    const traffic = new Traffic(cluster, 'Cluster', { ...options.load, random });
    try {
      await goesOn(traffic);
      await play({ cluster, traffic, witness, random });
      await Promise.all(cluster.replicas.map((replica) => replica.becomesReady()));
      if (!traffic.isOver) await goesOn(traffic);
    } finally {
      await traffic.stop();
    }
    const result = await checkConsistency(cluster, traffic);
    expect(result.faults.slice(0, 20)).toEqual([]);
    expect((await witness.violations()).slice(0, 20)).toEqual([]);
    console.log(summary(result, traffic));
    return result;
  } catch (error) {
    for (const replica of cluster.replicas) console.error(`── ${replica.id}\n${lastEvents(replica)}`);
    throw error;
  } finally {
    await cluster.remove();
  }
}

/** Waits until further posts are accepted and, after the first ones, further Commands answered. */
export async function goesOn(traffic: Traffic, seconds = 60): Promise<void> {
  const { accepted, people } = traffic;
  const answered = people.latencies.length;
  await until('posts to be accepted', async () => traffic.accepted > accepted + 10, seconds);
  await until('Commands to be answered', async () => people.latencies.length > answered, seconds);
}

/** Two replicas are ready, or more: one that is killed leaves one. */
export async function someReady(cluster: Cluster, seconds = 60): Promise<void> {
  await until(
    'two replicas to be ready',
    async () => {
      const ready = await Promise.all(
        cluster.replicas.map((replica) => replica.isReady().catch(() => false)),
      );
      return ready.filter(Boolean).length >= 2;
    },
    seconds,
  );
}

/** A killed replica's actors run elsewhere within 5 s; the rest is for the test itself. */
const TAKEOVER_WITHIN_MS = 8_000;
/** A takeover is decided in one process and committed by another, and each may wait for a processor. */
const TAKEOVER_PROCESSES = 2;

/**
 * Begins to watch how long the replicas wait for a processor: on a machine that is busy a takeover takes that much longer.
 * @returns how long a takeover since then may take, ms
 */
export function takeoverBound({ replicas }: Cluster): () => number {
  const before = new Map(replicas.map((replica) => [replica, replica.waitedMs()]));
  const waited = () => replicas.map((replica) => replica.waitedMs() - (before.get(replica) ?? 0));
  return () => TAKEOVER_WITHIN_MS + TAKEOVER_PROCESSES * Math.max(0, ...waited());
}

/** 0 of nothing. */
export function median(durations: readonly number[]): number {
  return durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)] ?? 0;
}

/** Waits until every shard of a replica that was stopped at `at` has another owner. @returns when, in ms after `at` */
export async function takenOver(
  witness: Witness,
  victim: string,
  at: number,
): Promise<{ firstCommitMs: number; allRaisedMs: number }> {
  return until(
    `the shards of ${victim} to have owners that commit`,
    async () => {
      const { firstCommitMs, allRaisedMs } = await witness.takeover(victim, at);
      return firstCommitMs !== null && allRaisedMs !== null && { firstCommitMs, allRaisedMs };
    },
    60,
  );
}

/** p50 and greatest of some durations, in ms. */
export function spreadOf(durations: readonly number[]): string {
  if (durations.length === 0) return 'none';
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, greatest ${at(1)} ms of ${sorted.length}`;
}

function summary(result: Consistency, { balancer, people, latencies }: Traffic): string {
  return [
    `${result.accepted} Snapshots accepted (${result.stored} stored), ${result.events} events, ` +
      `${result.requests} webhook requests, ${result.notes} Notes (seed ${seed})`,
    `posts: ${spreadOf(latencies)}, tries ended ${JSON.stringify(balancer.counts)}`,
    `Commands: ${spreadOf(people.latencies)}, tries ended ${JSON.stringify(people.refusals)}`,
  ].join('\n');
}

/** Lines of every Snapshot tell nothing about a cluster. */
const NOISE = /"event":"(snapshot_|delivery_attempt|command_|alert_group_)/;

function lastEvents(replica: Cluster['replicas'][number]): string {
  return replica
    .lines()
    .filter((line) => !NOISE.test(line))
    .slice(-30)
    .join('\n');
}

/** Kills the first replica; its shards have other owners in time. @returns it, not started again */
export async function replicaKilled({ cluster, witness }: Stage): Promise<Replica> {
  const victim = cluster.replicas[0]!;
  const withinMs = takeoverBound(cluster);
  const killed = Date.now();
  await victim.kill();
  const taken = await takenOver(witness, victim.id, killed);
  console.log(`replica killed → its shards taken ${JSON.stringify(taken)}`);
  expect(Math.max(taken.firstCommitMs, taken.allRaisedMs)).toBeLessThan(withinMs());
  return victim;
}
