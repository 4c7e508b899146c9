/** SIGKILL under load: whoever is left, or comes back, goes on where the dead one stopped. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Cluster } from '../harness/cluster.ts';
import { evenlySpread } from '../harness/cluster-facts.ts';
import {
  goesOn,
  type Stage,
  seed,
  someReady,
  spreadOf,
  takenOver,
  takeoverBound,
  underLoad,
} from './scenario.ts';

/** `CLUSTER_KILLS=100` makes as many kills, however long they take. */
const ASKED = Number(process.env.CLUSTER_KILLS ?? 0);
/** Kills one after the other, the next one often before the last one has recovered: as many as there is time for. */
const HASTY = kills(ASKED * 0.8, { most: 20, least: 8, forMs: 30_000 });
/** Kills with time to recover: the duration of a takeover is measured at them. */
const CALM = kills(ASKED * 0.2, { most: 5, least: 3, forMs: 20_000 });
/** Share of hasty kills that hit every replica at once. */
const ALL_AT_ONCE = 0.04;

/** From the kill, ms. */
interface Timed {
  readonly firstCommitMs: number;
  readonly allRaisedMs: number;
  /** How long it may have taken. */
  readonly withinMs: number;
}

interface Kills {
  readonly most: number;
  readonly least: number;
  readonly forMs: number;
}

function kills(asked: number, otherwise: Kills): Kills {
  const count = Math.round(asked);
  return count > 0 ? { most: count, least: count, forMs: 0 } : otherwise;
}

function choose<T>(from: readonly T[], random: () => number): T {
  return from[Math.floor(random() * from.length)]!;
}

/** Numbers of kills, until there were the most or, after the least of them, the time is over. */
function* turns({ most, least, forMs }: Kills): Generator<number> {
  const end = performance.now() + forMs;
  for (let turn = 0; turn < most && (turn < least || performance.now() < end); turn++) yield turn;
}

/** Every other time the dead one comes back under another id, as where ids are made up at each start. */
async function hastily({ cluster, random }: Stage): Promise<number> {
  let killed = 0;
  for (const kill of turns(HASTY)) {
    await pause(random() * 1_000);
    await someReady(cluster);
    const victims = random() < ALL_AT_ONCE ? cluster.replicas : [choose(cluster.replicas, random)];
    await Promise.all(victims.map((victim) => victim.kill()));
    for (const victim of victims) {
      victim.launch(random() < 0.5 ? { SVC_REPLICA_ID: `${victim.id}-${kill}` } : {});
    }
    killed += victims.length;
  }
  return killed;
}

async function allReady(cluster: Cluster): Promise<void> {
  await Promise.all(cluster.replicas.map((replica) => replica.becomesReady()));
}

/** Kills a replica, starts it again at once, and waits until somebody has committed for every part of what it had. */
async function killAndTime({ cluster, random, witness }: Stage): Promise<Timed> {
  const victim = choose(cluster.replicas, random);
  const at = Date.now();
  await victim.kill();
  victim.launch();
  const withinMs = takeoverBound(cluster);
  const taken = await takenOver(witness, victim.id, at);
  return { ...taken, withinMs: withinMs() };
}

async function calmly(stage: Stage): Promise<Timed[]> {
  const { cluster, random } = stage;
  const timed: Timed[] = [];
  for (const _ of turns(CALM)) {
    await allReady(cluster);
    await evenlySpread(cluster);
    await pause(random() * 500);
    timed.push(await killAndTime(stage));
  }
  return timed;
}

test(`kills of replicas, up to ${HASTY.most + CALM.most}, lose nothing and repeat nothing (seed ${seed})`, {
  timeout: 600_000 + ASKED * 20_000,
}, async () => {
  await underLoad({ logLevel: 'warn' }, async (stage) => {
    console.log(`${await hastily(stage)} hasty kills`);
    for (const replica of stage.cluster.replicas) {
      await replica.kill();
      await replica.start();
    }
    await goesOn(stage.traffic);
    const timed = await calmly(stage);
    await allReady(stage.cluster);
    await evenlySpread(stage.cluster);
    const first = timed.map(({ firstCommitMs }) => firstCommitMs);
    const raised = timed.map(({ allRaisedMs }) => allRaisedMs);
    console.log(`kill to the next owner's first commit: ${spreadOf(first)}`);
    console.log(`kill to the last shard's new epoch: ${spreadOf(raised)}`);
    for (const { firstCommitMs, allRaisedMs, withinMs } of timed)
      expect(Math.max(firstCommitMs, allRaisedMs)).toBeLessThan(withinMs);
  });
});

test('all replicas killed at once, three times, come back to everything they were in the middle of', {
  timeout: 300_000,
}, async () => {
  await underLoad({ logLevel: 'warn' }, async ({ cluster, traffic, random }) => {
    for (let round = 0; round < 3; round++) {
      await Promise.all(cluster.replicas.map((replica) => replica.kill()));
      for (const replica of cluster.replicas) replica.launch();
      await someReady(cluster);
      await pause(random() * 2_000);
    }
    await allReady(cluster);
    await goesOn(traffic);
  });
});
