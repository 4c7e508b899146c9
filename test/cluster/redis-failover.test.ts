/** The primary Redis dies under load and Sentinels put its copy in its place: nothing but the moving of shards waits. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { expect, test } from 'vitest';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { runTocsin } from '../harness/program.ts';
import { leads } from '../harness/redis-group.ts';
import { until } from '../harness/until.ts';
import { goesOn, replicaKilled, seed, spreadOf, takenOver, underLoad } from './scenario.ts';

/** For each step, on a machine that is busy with other things: Sentinels whose clocks jump do nothing for 30 s. */
const STEP_S = 120;

/** @returns a PEM file with a certificate that has signed nothing here */
function rootOfAnother(folder: string): string {
  const file = path.join(folder, 'other-ca.pem');
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=other'];
  execFileSync('openssl', [...request, '-keyout', '/dev/null', '-out', file], { stdio: 'ignore' });
  return file;
}

test(`a killed Redis primary is replaced by its copy through Sentinels and TLS (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  await underLoad({ replicas: 2, redisGroup: true }, async (stage) => {
    const { cluster, traffic } = stage;
    const group = cluster.redisGroup!;
    const env = { ...cluster.environment(), SVC_REDIS_URL: group.url };
    const stranger = { ...env, NODE_EXTRA_CA_CERTS: rootOfAnother(cluster.home) };
    await expect(runTocsin(['serve'], stranger)).rejects.toThrow(/is not trusted .* in NODE_EXTRA_CA_CERTS/);

    const [primary, copy] = (await leads(group.primary))
      ? [group.primary, group.copy]
      : [group.copy, group.primary];
    const outages = () => cluster.replicas.map((replica) => replica.events('redis_restored').length);
    const before = outages();
    const [posts, commands] = [traffic.latencies.length, traffic.people.latencies.length];
    const at = Date.now();
    const since = () => `${Date.now() - at} ms`;

    await primary.kill();
    await until('the copy to be the primary', () => leads(copy), STEP_S);
    const promoted = since();
    const isBack = async () => outages().every((count, place) => count > before[place]!);
    await until('both replicas to use it', isBack, STEP_S);
    console.log(`primary killed → copy promoted ${promoted} → used by both replicas ${since()}`);
    await goesOn(traffic);
    console.log(`posts meanwhile: ${spreadOf(traffic.latencies.slice(posts))}`);
    console.log(`Commands meanwhile: ${spreadOf(traffic.people.latencies.slice(commands))}`);

    // Leases end and shards move by what the new primary knows.
    const victim = await replicaKilled(stage);

    await primary.start();
    await until('the old primary to copy the new one', async () => !(await leads(primary)), STEP_S);
    await victim.start();
    await evenlySpread(cluster);
    expect(cluster.replicas.flatMap(({ crashes }) => crashes)).toEqual([]);
  });
});

test(`a replica and the Redis primary killed at once: the other replica goes on for both (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  await underLoad({ replicas: 2, redisGroup: true }, async ({ cluster, traffic, witness }) => {
    const group = cluster.redisGroup!;
    const primary = (await leads(group.primary)) ? group.primary : group.copy;
    const [victim] = cluster.replicas;
    const at = Date.now();
    await Promise.all([primary.kill(), victim!.kill()]);
    const taken = await takenOver(witness, victim!.id, at);
    console.log(`primary and replica killed → shards taken ${JSON.stringify(taken)}`);
    await goesOn(traffic);
    await primary.start();
    await victim!.start();
    await evenlySpread(cluster);
  });
});
