/** What readiness never depends on (operations §4, §5.5). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';
import { type RedisServer, startRedis } from '../redis.ts';

let redis: RedisServer;
let tocsin: Installation;

beforeAll(async () => {
  redis = await startRedis();
  tocsin = new Installation({ SVC_REDIS_URL: redis.url });
  await tocsin.start();
});

afterAll(async () => {
  await tocsin.remove();
  await redis.stop();
});

async function get(path: string): Promise<{ status: number; text: string }> {
  const answer = await fetch(new URL(path, tocsin.first.internal_url));
  return { status: answer.status, text: await answer.text() };
}

async function redisIs(up: 0 | 1): Promise<void> {
  await until(`svc_redis_up ${up}`, async () =>
    (await get('/metrics')).text.includes(`\nsvc_redis_up ${up}\n`),
  );
}

/** Readiness while the service knows that Redis is away. */
async function staysReady(takeAway: () => Promise<void> | void, bringBack: () => Promise<void> | void) {
  await redisIs(1);
  await takeAway();
  await redisIs(0);
  expect(await get('/health/ready')).toMatchObject({ status: 200 });
  expect(await get('/health/live')).toMatchObject({ status: 200 });
  await bringBack();
  await redisIs(1);
  expect(await get('/health/ready')).toMatchObject({ status: 200 });
}

test('the service stays ready while Redis is gone, and when it comes back empty', () =>
  staysReady(
    () => redis.kill(),
    () => redis.start(),
  ));

test('the service stays ready while Redis does not answer', () =>
  staysReady(
    () => redis.freeze(),
    () => redis.thaw(),
  ));
