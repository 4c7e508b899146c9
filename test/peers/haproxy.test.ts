/** The shipped load balancer in front of three replicas: who posts or reads through it does not notice an upgrade. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Cluster } from '../harness/cluster.ts';
import { type Haproxy, startHaproxy } from '../harness/haproxy.ts';
import { snapshotBody } from '../harness/sender.ts';
import { until } from '../harness/until.ts';

/** Between two posts of a lane: a sender is not a benchmark. */
const POST_EVERY_MS = 10;
const LANES = 8;

/** Posts through the balancer until `isOver`, each once. @returns how many of each answer there were */
async function posts(isOver: () => boolean): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  const lane = async (number: number) => {
    for (let count = 0; !isOver(); count++) {
      const labels = { alertname: 'Test', lane: String(number), count: String(count % 10) };
      const answer = await postOnce(
        snapshotBody({ groupKey: `{}:{lane="${number}"}`, alerts: [{ labels }] }),
      );
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await pause(POST_EVERY_MS);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  return answers;
}

/** @returns the status, or why there was none */
async function postOnce(body: string): Promise<string> {
  try {
    const response = await fetch(`${haproxy.url}/api/v1/ingest`, {
      method: 'POST',
      headers: { authorization: `Bearer ${cluster.rows.token}`, 'content-type': 'application/json' },
      body,
    });
    const text = await response.text();
    return response.status === 202 ? '202' : `${response.status}: ${text}`;
  } catch (error) {
    return `no answer (${error instanceof Error && error.cause instanceof Error ? error.cause.message : error})`;
  }
}

let cluster: Cluster;
let haproxy: Haproxy;

beforeAll(async () => {
  cluster = await Cluster.start({ destinations: 1, logLevel: 'warn' });
  haproxy = await startHaproxy(cluster.replicas);
});

afterAll(async () => {
  await haproxy?.stop();
  await cluster?.remove();
});

test('replicas stopped and started one by one cost no sender an answer', async () => {
  let isOver = false;
  const posted = posts(() => isOver);
  try {
    for (const replica of cluster.replicas) {
      expect(await replica.terminate()).toBe(0);
      await replica.start();
    }
  } finally {
    isOver = true;
  }
  const answers = await posted;
  expect(Object.fromEntries(answers)).toEqual({ 202: expect.any(Number) });
  expect(answers.get('202')).toBeGreaterThan(100);
});

test('a killed replica costs no sender an answer, although no health check has noticed', async () => {
  const victim = cluster.replicas[1]!;
  await victim.kill();
  let left = 20;
  const answers = await posts(() => left-- <= 0);
  expect(Object.fromEntries(answers)).toEqual({ 202: expect.any(Number) });
  await victim.start();
});

test('live updates pass at once', async () => {
  const api = cluster.api(cluster.replicas[0]!).at(haproxy.url);
  const over = new AbortController();
  const stream = await fetch(`${haproxy.url}/api/v1/live-updates`, {
    headers: { cookie: api.cookie },
    signal: over.signal,
  });
  expect(stream.headers.get('content-type')).toContain('text/event-stream');
  let heard = '';
  const listening = (async () => {
    for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString();
  })().catch((error: unknown) => {
    if (!over.signal.aborted) throw error;
  });
  const labels = { alertname: 'Live' };
  expect(await postOnce(snapshotBody({ groupKey: '{}:{alertname="Live"}', alerts: [{ labels }] }))).toBe(
    '202',
  );
  await until('a hint', async () => heard.includes('alert-group'), 10);
  over.abort();
  await listening;
});
