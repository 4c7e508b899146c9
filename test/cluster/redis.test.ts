/** Redis dies, forgets everything, and cannot be reached: it is a shortcut, and nothing but speed depends on it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { evenlySpread, strayRequests } from '../harness/cluster-facts.ts';
import type { Replica } from '../harness/replica.ts';
import { until } from '../harness/until.ts';
import {
  goesOn,
  median,
  type Stage,
  seed,
  spreadOf,
  takenOver,
  takeoverBound,
  underLoad,
} from './scenario.ts';

/** Several times as long as a lease lasts. */
const OUTAGE_MS = 20_000;
/** For this long before the outage, the pace of the load is measured, ms. */
const CALM_MS = 5_000;
/** Share of its pace before that the load keeps without Redis. */
const KEPT_PACE = 0.5;
/** Commands are answered after at most one or two polls of the database. */
const COMMANDS_P99_MS = 2_000;
/** On a slow machine each takes as long as a Command usually does. */
const POLLS = 2;
const FLUSHES = 4;
const CUT_OFF_MS = 8_000;
/** Within this time a replica that is slow to answer still counts as ready; it is refused by its status alone, ms. */
const READY_WITHIN_MS = 10_000;

/** Waits, and fails as soon as a replica that runs is not ready. */
async function staysReady({ cluster }: Stage, forMs: number): Promise<void> {
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    for (const replica of cluster.replicas)
      expect(await replica.isReady(READY_WITHIN_MS), `${replica.id} is ready`).toBe(true);
    await pause(500);
  }
}

/** Sends Commands to one replica alone; each must be answered at once. */
async function commandsThrough({ cluster, traffic }: Stage, replica: Replica, when: string): Promise<void> {
  const { notes, tried } = traffic.people;
  for (const [turn, { group }] of notes.slice(-5).entries()) {
    const text = `through ${replica.id}, ${when}, ${turn}`;
    tried.add(text);
    const answer = await cluster.api(replica).call('POST', `/alert-groups/${group}/notes`, { body: text });
    expect(answer.status, text).toBe(201);
    notes.push({ group, text });
  }
}

async function movesDuring({ witness }: Stage, happens: () => Promise<void>): Promise<number> {
  const before = (await witness.moves()).length;
  await happens();
  return (await witness.moves()).length - before;
}

/** Posts and Commands that were answered, per second, while something happens. */
async function paceDuring({ traffic }: Stage, happens: () => Promise<void>): Promise<Pace> {
  const at = performance.now();
  const [posts, commands] = [traffic.accepted, traffic.people.latencies.length];
  await happens();
  const seconds = (performance.now() - at) / 1_000;
  return {
    posts: (traffic.accepted - posts) / seconds,
    commands: (traffic.people.latencies.length - commands) / seconds,
  };
}

interface Pace {
  readonly posts: number;
  readonly commands: number;
}

test(`a Redis that forgets everything moves nothing, and without Redis everything continues where it is (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  await underLoad({}, async (stage) => {
    const { cluster, traffic, witness, random } = stage;
    const { people } = traffic;
    const flushed = await movesDuring(stage, async () => {
      for (let flush = 0; flush < FLUSHES; flush++) {
        await cluster.redis!.flush();
        await pause(300 + random() * 2_500);
      }
      await goesOn(traffic);
    });
    expect(flushed).toBe(0);

    const calm = await paceDuring(stage, () => pause(CALM_MS));
    const answered = people.latencies.length;
    const usualMs = median(people.latencies);
    const stalls = monitorEventLoopDelay();
    stalls.enable();
    let without: Pace = { posts: 0, commands: 0 };
    const moves = await movesDuring(stage, async () => {
      await cluster.redis!.kill();
      without = await paceDuring(stage, () => staysReady(stage, OUTAGE_MS));
    });
    expect(moves).toBe(0);
    const waits = people.latencies.slice(answered).toSorted((a, b) => a - b);
    console.log(
      `per second ${JSON.stringify({ calm, without })}; Commands without Redis: ${spreadOf(waits)}`,
    );
    expect(without.posts).toBeGreaterThan(calm.posts * KEPT_PACE);
    expect(without.commands).toBeGreaterThan(calm.commands * KEPT_PACE);
    expect(waits[Math.floor(waits.length * 0.99)]).toBeLessThan(
      COMMANDS_P99_MS + stalls.max / 1e6 + POLLS * usualMs,
    );
    await cluster.redis!.start();
    for (const replica of cluster.replicas) {
      await until(
        `${replica.id} to see Redis again`,
        async () => replica.events('redis_restored').length === 1,
      );
      expect(replica.events('redis_unavailable')).toHaveLength(1);
    }
    await goesOn(traffic);
    await evenlySpread(cluster);

    const [victim] = cluster.replicas;
    const at = Date.now();
    await victim!.kill();
    await takenOver(witness, victim!.id, at);
    await victim!.start();
    await evenlySpread(cluster);
  });
});

test('a replica that alone cannot reach Redis loses its shards for that long', {
  timeout: 540_000,
}, async () => {
  await underLoad({ proxies: true, identifySenders: true }, async (stage) => {
    await isCutOff(stage, 'blackHole');
    await isCutOff(stage, 'refuse');
    expect(await strayRequests(stage.cluster)).toEqual([]);
  });
});

/** The network to Redis swallows everything, or refuses connections, for the replica that owns the Destination. */
async function isCutOff(stage: Stage, trouble: 'blackHole' | 'refuse'): Promise<void> {
  const { cluster, witness, traffic } = stage;
  const [destination] = cluster.rows.destinationIds;
  const victim = await until('an owner of the Destination', () =>
    cluster.ownerOf('destination', destination!),
  );
  const withinMs = takeoverBound(cluster);
  const at = Date.now();
  await cluster.proxy(victim.id)[trouble]();
  const [taken] = await Promise.all([takenOver(witness, victim.id, at), staysReady(stage, CUT_OFF_MS)]);
  console.log(`${victim.id} cut off by ${trouble}: ${JSON.stringify(taken)}`);
  expect(taken.firstCommitMs).toBeLessThan(withinMs());
  expect(taken.allRaisedMs).toBeLessThan(withinMs());
  await commandsThrough(stage, victim, trouble);
  await cluster.proxy(victim.id).heal();
  await evenlySpread(cluster);
  await goesOn(traffic);
}
