/** Redis dies, forgets everything, and cannot be reached: it is a shortcut, and nothing but speed depends on it. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { evenlySpread, strayRequests } from '../harness/cluster-facts.ts';
import type { Replica } from '../harness/replica.ts';
import { until } from '../harness/until.ts';
import { goesOn, type Stage, seed, spreadOf, underLoad } from './scenario.ts';

const OUTAGE_MS = 60_000;
/** Commands meanwhile are answered after at most a look or two in the database. */
const COMMANDS_P99_MS = 2_000;
const FLUSHES = 8;
const CUT_OFF_MS = 10_000;
const TAKEOVER_WITHIN_MS = 8_000;

/** Waits, and fails as soon as a replica that runs is not ready. */
async function staysReady({ cluster }: Stage, forMs: number): Promise<void> {
  const end = performance.now() + forMs;
  while (performance.now() < end) {
    for (const replica of cluster.replicas)
      expect(await replica.isReady(), `${replica.id} is ready`).toBe(true);
    await pause(500);
  }
}

/** Sends Commands to one replica alone; each must be answered at once. */
async function commandsThrough({ cluster, traffic }: Stage, replica: Replica): Promise<void> {
  const { notes, tried } = traffic.people;
  for (const [turn, { group }] of notes.slice(-5).entries()) {
    const text = `through ${replica.id}, ${turn}`;
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

test(`without Redis for a minute everything goes on where it is (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  await underLoad({}, async (stage) => {
    const { cluster, traffic, witness } = stage;
    const { people } = traffic;
    const [accepted, written, answered] = [traffic.accepted, people.notes.length, people.latencies.length];
    const moves = await movesDuring(stage, async () => {
      await cluster.redis!.kill();
      await staysReady(stage, OUTAGE_MS);
    });
    expect(moves).toBe(0);
    const waits = people.latencies.slice(answered);
    console.log(
      `without Redis: ${traffic.accepted - accepted} Snapshots, ${people.notes.length - written} Notes; ` +
        `Commands: ${spreadOf(waits)}`,
    );
    expect(traffic.accepted - accepted).toBeGreaterThan(OUTAGE_MS / 20);
    expect(waits.length).toBeGreaterThan(OUTAGE_MS / 500);
    expect(waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.99)]).toBeLessThan(COMMANDS_P99_MS);
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
    await until('the shards to move', async () => (await witness.takeover(victim!.id, at)).allRaisedMs, 10);
    await victim!.start();
    await evenlySpread(cluster);
  });
});

test(`a Redis that forgets everything ${FLUSHES} times moves nothing (seed ${seed})`, {
  timeout: 360_000,
}, async () => {
  await underLoad({}, async (stage) => {
    const { cluster, random, traffic } = stage;
    const moves = await movesDuring(stage, async () => {
      for (let flush = 0; flush < FLUSHES; flush++) {
        await cluster.redis!.flush();
        await pause(300 + random() * 2_500);
      }
      await goesOn(traffic);
    });
    expect(moves).toBe(0);
  });
});

test.each([
  ['swallows everything', 'blackHole'],
  ['refuses connections', 'refuse'],
] as const)(
  'a network to Redis that %s for one replica costs it its shards for that long',
  {
    timeout: 360_000,
  },
  async (_name, trouble) => {
    await underLoad({ proxies: true, identifySenders: true, load: { postsPerSecond: 60 } }, async (stage) => {
      const { cluster, witness, traffic } = stage;
      const [destination] = cluster.rows.destinationIds;
      const victim = await until('an owner of the Destination', () =>
        cluster.ownerOf('destination', destination!),
      );
      const at = Date.now();
      await cluster.proxy(victim.id)[trouble]();
      await staysReady(stage, CUT_OFF_MS);
      const taken = await witness.takeover(victim.id, at);
      console.log(`${victim.id} cut off with ${taken.shards} shards: ${JSON.stringify(taken)}`);
      expect(taken.firstCommitMs ?? Number.POSITIVE_INFINITY).toBeLessThan(TAKEOVER_WITHIN_MS);
      expect(taken.allRaisedMs ?? Number.POSITIVE_INFINITY).toBeLessThan(TAKEOVER_WITHIN_MS);
      await commandsThrough(stage, victim);
      await cluster.proxy(victim.id).heal();
      await evenlySpread(cluster);
      await goesOn(traffic);
      expect(await strayRequests(cluster)).toEqual([]);
    });
  },
);
