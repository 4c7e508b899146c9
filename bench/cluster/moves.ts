/** How long shards are without an owner: after a kill, and when a replica hands over on purpose. */
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../test/harness/cluster.ts';
import { evenlySpread } from '../../test/harness/cluster-facts.ts';
import { randomSource } from '../../test/harness/random.ts';
import type { Replica } from '../../test/harness/replica.ts';
import { Traffic } from '../../test/harness/traffic.ts';
import { Witness } from '../../test/harness/witness.ts';

export interface Moves {
  /** From SIGKILL to the first commit of a next owner, ms. */
  readonly firstCommit: number[];
  /** From SIGKILL to the new epoch of the last shard, ms. */
  readonly afterKill: number[];
  /** From SIGTERM to the new epoch of the last shard, ms. */
  readonly afterTerm: number[];
  readonly violations: readonly string[];
}

/** Kills and stops replicas in turn under a steady load; each time everything has settled before. */
export async function measureMoves(
  kills: number,
  stops: number,
  progress: (line: string) => void,
): Promise<Moves> {
  const cluster = await Cluster.start({ durable: true, logLevel: 'error' });
  try {
    const witness = await Witness.install(cluster.sql);
    const traffic = new Traffic(cluster, 'Bench', { random: randomSource(1) });
    const afterKill: number[] = [];
    const firstCommit: number[] = [];
    const afterTerm: number[] = [];
    try {
      for (let kill = 0; kill < kills; kill++) {
        const victim = await nextVictim(cluster, kill);
        const at = Date.now();
        await victim.kill();
        const { firstCommitMs, allRaisedMs } = await settledTakeover(witness, victim, at);
        firstCommit.push(firstCommitMs);
        afterKill.push(allRaisedMs);
        await victim.start();
        if (kill % 10 === 9) progress(`${kill + 1} kills`);
      }
      for (let stop = 0; stop < stops; stop++) {
        const victim = await nextVictim(cluster, stop);
        const at = Date.now();
        await victim.terminate();
        afterTerm.push((await settledTakeover(witness, victim, at)).allRaisedMs);
        await victim.start();
      }
      progress(`${stops} stops`);
    } finally {
      await traffic.stop();
    }
    return { firstCommit, afterKill, afterTerm, violations: await witness.violations() };
  } finally {
    await cluster.remove();
  }
}

/** One after the other, at a moment that has nothing to do with when it came back. */
async function nextVictim(cluster: Cluster, turn: number): Promise<Replica> {
  await evenlySpread(cluster);
  await pause(Math.random() * 1_000);
  return cluster.replicas[turn % cluster.replicas.length]!;
}

/** Waits until the shards have owners that commit. @throws when that takes more than half a minute */
async function settledTakeover(
  witness: Witness,
  victim: Replica,
  at: number,
): Promise<{ firstCommitMs: number; allRaisedMs: number }> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const { firstCommitMs, allRaisedMs } = await witness.takeover(victim.id, at);
    if (firstCommitMs !== null && allRaisedMs !== null) return { firstCommitMs, allRaisedMs };
    await pause(100);
  }
  throw new Error(`The shards of ${victim.id} have no new owner after 30 s`);
}
