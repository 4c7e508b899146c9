/** While the largest body that is allowed is processed, everybody else is served within a second (ingestion §4.3). */
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { Sender, snapshotBody } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** What deploy/ allows a replica, MiB. */
const MEMORY_LIMIT = 512;
const BODY_LIMIT = 16 * 1024 * 1024;
const ALERTS = 10_000;

let tocsin: Installation;
let ready: Ready;
let api: Api;
let other: Sender;

beforeAll(async () => {
  tocsin = new Installation({
    NODE_OPTIONS: `--max-old-space-size=${MEMORY_LIMIT / 2}`,
    ...imageEnvironment(),
  });
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  const settings = { connection_mode: 'webhook_only', static_labels: {}, duplicate_window_seconds: 45 };
  const integration = await api.post('/integrations', {
    ...{ name: 'other', ...settings, heartbeat: { enabled: false } },
  });
  const { value } = await api.post(`/integrations/${integration.id}/tokens`, {});
  other = new Sender(ready.ingest_endpoint, value);
});

afterAll(() => tocsin.remove());

function imageEnvironment(): Record<string, string> {
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  return Object.fromEntries(
    [...dockerfile.matchAll(/(MALLOC_\w+)=(\d+)/g)].map(([, name, value]) => [name, value]),
  );
}

let posted = 0;

/** Another Integration's Alert, from its post to its Alert Group in the list. @returns the group's id */
async function postAnother(): Promise<string> {
  const name = `Other${posted++}x`;
  expect(await other.post({ groupKey: name, alerts: [{ labels: { alertname: name } }] })).toBe(202);
  const shown = async () => (await api.get(`/alert-groups?q=${name}`)).items[0];
  return (await until('another Alert Group in the list', shown, 60)).id;
}

async function newestOfLarge(): Promise<{ state: string } | undefined> {
  return (await api.get(`/stored-snapshots?integration=${ready.integration_id}&limit=1`)).items[0];
}

/** The longest that `run` takes while `isOver` does not hold, ms. */
async function worstOf(run: () => Promise<unknown>, isOver: () => boolean): Promise<number> {
  let worst = 0;
  while (!isOver()) {
    const from = performance.now();
    await run();
    worst = Math.max(worst, performance.now() - from);
    await pause(20);
  }
  return worst;
}

function peakMemory(): number {
  const status = readFileSync(`/proc/${tocsin.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

/** Longest times in ms. A stall of the machine may delay each step of a request, there and back. */
interface Worst {
  readonly groups: number;
  readonly reads: number;
  readonly commands: number;
  readonly stall: number;
}

const STEPS = 6;

function expectWithinASecond({ groups, reads, commands, stall }: Worst): void {
  const bound = 1_000 + STEPS * stall;
  for (const [what, worst] of Object.entries({ groups, reads, commands })) {
    expect(worst, `${what}, with stalls of ${Math.round(stall)} ms`).toBeLessThan(bound);
  }
}

/**
 * Posts a body and waits until it is processed and what it says is shown.
 * @returns the longest that others waited meanwhile, ms
 */
async function othersMeanwhile(body: string, isShown: () => Promise<boolean>): Promise<Worst> {
  expect(body.length).toBeGreaterThan(0.95 * BODY_LIMIT);
  const group = await postAnother();
  const stalls = monitorEventLoopDelay();
  stalls.enable();
  let isOver = false;
  const large = new Sender(ready.ingest_endpoint, ready.integration_token!)
    .postRaw(body)
    .then(async (status) => {
      expect(status).toBe(202);
      const settled = async () => (await newestOfLarge())?.state === 'processed';
      await until('the large Snapshot to be processed', settled, 120);
      await until('what it says to be shown', isShown, 120);
    })
    .finally(() => {
      isOver = true;
    });
  const measured = (run: () => Promise<unknown>) => worstOf(run, () => isOver);
  const [, groups, reads, commands] = await Promise.all([
    large,
    measured(postAnother),
    measured(() => api.get('/system-status')),
    measured(() => api.post(`/alert-groups/${group}/notes`, { body: 'seen' })),
  ]);
  return { groups, reads, commands, stall: stalls.max / 1e6 };
}

const TEXT = 't'.repeat(700);

test('the largest body lets others be served within a second, and stays within the memory', async () => {
  const alerts = Array.from({ length: ALERTS }, (_, n) => ({
    labels: { alertname: 'Largest', n: String(n), text: TEXT },
    annotations: { summary: String(n), text: TEXT },
  }));
  const body = snapshotBody({ groupKey: 'largest', alerts });
  expectWithinASecond(await othersMeanwhile(body, async () => true));
  const [shown] = (await api.get('/alert-groups?q=Largest')).items;
  expect(shown.firing_alert_count).toBe(ALERTS);
  expect(peakMemory()).toBeLessThan(MEMORY_LIMIT);
});

test('so does one whose Alerts make an Alert Group each, when they fire, again, and when they end', async () => {
  const bodyOf = (status: 'firing' | 'resolved') =>
    snapshotBody({
      groupKey: 'many',
      alerts: Array.from({ length: ALERTS }, (_, n) => ({
        ...{ status, labels: { alertname: `Many${n}x`, text: TEXT } },
        annotations: { summary: String(n), text: TEXT },
      })),
    });
  /** Of the first Alert of the body and of the last one, whose parts are handed on in this order. */
  const areFiring = (count: number) => async () => {
    const shown = await Promise.all(
      [0, ALERTS - 1].map(async (n) => (await api.get(`/alert-groups?q=Many${n}x`)).items[0]),
    );
    return shown.every((group) => (group?.firing_alert_count ?? 0) === count);
  };
  expectWithinASecond(await othersMeanwhile(bodyOf('firing'), areFiring(1)));
  expectWithinASecond(await othersMeanwhile(bodyOf('firing'), areFiring(1)));
  expectWithinASecond(await othersMeanwhile(bodyOf('resolved'), areFiring(0)));
  expect(peakMemory()).toBeLessThan(MEMORY_LIMIT);
});
