/** Replicas that must not run beside those that do are refused at their start. */
import { afterEach, expect, test } from 'vitest';
import { Cluster } from '../harness/cluster.ts';
import type { Replica } from '../harness/replica.ts';
import { startRedis } from '../redis.ts';

let cluster: Cluster | null = null;

afterEach(async () => {
  await cluster?.remove();
  cluster = null;
});

/** Exit 1 with one line for people, while those that ran go on. */
async function isRefused(newcomer: Replica, says: RegExp): Promise<void> {
  newcomer.launch();
  expect(await newcomer.ends()).toBe(1);
  expect(newcomer.said().join('\n')).toMatch(says);
}

test('a replica without Redis is refused beside replicas with it, and so is a second one of the same id', {
  timeout: 180_000,
}, async () => {
  cluster = await Cluster.start({ replicas: 2 });
  const running = [...cluster.replicas];
  await isRefused(await cluster.addReplica('alone', { SVC_REDIS_URL: undefined }), /SVC_REDIS_URL/);
  await isRefused(await cluster.addReplica('twin', { SVC_REPLICA_ID: 'r2' }), /SVC_REPLICA_ID/);
  for (const replica of running) expect(await replica.isReady()).toBe(true);
});

test('a replica with Redis is refused beside one without', { timeout: 180_000 }, async () => {
  cluster = await Cluster.start({ withoutRedis: true });
  const redis = await startRedis();
  try {
    await isRefused(await cluster.addReplica('newcomer', { SVC_REDIS_URL: redis.url }), /SVC_REDIS_URL/);
    expect(await cluster.replica('r1').isReady()).toBe(true);
  } finally {
    await redis.stop();
  }
});
