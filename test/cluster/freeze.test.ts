/** A replica that stops for seconds and goes on as if nothing had happened: it may do nothing that was taken from it. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { evenlySpread, leaderOf, OF_FORMER_OWNER_MS, strayRequests } from '../harness/cluster-facts.ts';
import type { Replica } from '../harness/replica.ts';
import { until } from '../harness/until.ts';
import { goesOn, type Stage, seed, takenOver, takeoverBound, underLoad } from './scenario.ts';

/** What a thawed process does at once, before it has heard of anything. */
async function answersOf(replica: Replica, { cluster }: Stage): Promise<number[]> {
  const api = cluster.api(replica);
  const [group] = (await api.get('/alert-groups?limit=1&status=firing')).items;
  const answers = await Promise.all([
    api.call('GET', '/alert-groups?limit=5'),
    api.call('GET', `/alert-groups/${group.id}`),
    api.call('POST', `/alert-groups/${group.id}/snooze`, { no_end: true }),
    api.call('POST', `/alert-groups/${group.id}/unsnooze`),
  ]);
  return answers.map(({ status }) => status);
}

async function freezeAndThaw(stage: Stage, victim: Replica): Promise<void> {
  const { cluster, witness, traffic } = stage;
  const withinMs = takeoverBound(cluster);
  const at = Date.now();
  victim.freeze();
  const taken = await takenOver(witness, victim.id, at);
  console.log(`${victim.id} frozen: ${JSON.stringify(taken)}`);
  expect(taken.firstCommitMs).toBeLessThan(withinMs());
  expect(taken.allRaisedMs).toBeLessThan(withinMs());
  // Whatever it sends from now on, it sends without owning it.
  await pause(OF_FORMER_OWNER_MS);
  victim.thaw();
  const answers = await answersOf(victim, stage);
  expect(answers.filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
  await victim.becomesReady();
  await evenlySpread(cluster);
  await goesOn(traffic);
}

test(`a frozen replica is replaced, and does nothing for what it lost when it wakes up (seed ${seed})`, {
  timeout: 360_000,
}, async () => {
  await underLoad({ identifySenders: true }, async (stage) => {
    const { cluster } = stage;
    const [destination] = cluster.rows.destinationIds;
    const owner = await until('an owner of the Destination', () =>
      cluster.ownerOf('destination', destination!),
    );
    await freezeAndThaw(stage, owner);
    await freezeAndThaw(stage, await until('a Leader', () => leaderOf(cluster)));
    expect(await strayRequests(cluster)).toEqual([]);
  });
});
