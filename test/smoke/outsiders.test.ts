/** What somebody with a token may send to do harm: it is set aside with the reason, and everything else goes on. */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../storage/postgres/connection.ts';
import { embeddedSettings } from '../../storage/postgres/embedded/embedded.ts';
import { Api } from '../harness/api.ts';
import { Sender, type SentSnapshot, snapshotBody } from '../harness/sender.ts';
import {
  containerEnvironment,
  Installation,
  MEMORY_LIMIT,
  peakMemory,
  type Ready,
} from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** How long another Alert may take while the service is under attack, s. */
const OTHERS_WITHIN = 4;
const BODY_LIMIT = 16 * 1024 * 1024;

let tocsin: Installation;
let ready: Ready;
let api: Api;
let sender: Sender;

beforeAll(async () => {
  tocsin = new Installation(containerEnvironment());
  await begin();
});

afterAll(() => tocsin.remove());

async function begin(): Promise<void> {
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
}

interface StoredSnapshot {
  readonly group_key: string | null;
  readonly size_bytes: number;
  readonly state: string;
  readonly processing_error: string | null;
}

async function stored(query: string): Promise<StoredSnapshot[]> {
  return (await api.get(`/stored-snapshots?integration=${ready.integration_id}&${query}`)).items;
}

async function newestOfSize(size: number): Promise<StoredSnapshot | undefined> {
  return (await stored('limit=100')).find(({ size_bytes }) => size_bytes === size);
}

/** How long an Alert takes from its post to the list, s. */
async function timeOfAnother(): Promise<number> {
  const name = `Other${Math.random().toString(36).slice(2)}`;
  const from = performance.now();
  expect(await sender.post({ groupKey: name, alerts: [{ labels: { alertname: name } }] })).toBe(202);
  await until(
    'another Alert in the list',
    async () => (await api.get(`/alert-groups?q=${name}`)).items.length === 1,
    60,
  );
  return (performance.now() - from) / 1000;
}

async function settled(body: string): Promise<StoredSnapshot> {
  return until(
    'the Snapshot to be settled',
    async () => {
      const found = await newestOfSize(Buffer.byteLength(body));
      return found && found.state !== 'pending' && found;
    },
    120,
  );
}

test('3,000 Snapshots with a number that nothing holds are set aside, and delay neither others nor their feeds', async () => {
  const poisoned = (key: number): SentSnapshot => ({
    groupKey: `poisoned${key}`,
    alerts: [{ labels: { alertname: `Poisoned${key}` } }],
    truncatedAlerts: 3_000_000_000,
  });
  for (let from = 0; from < 3_000; from += 100) {
    const posts = Array.from({ length: 100 }, (_, index) => sender.post(poisoned(from + index)));
    expect(await Promise.all(posts)).toEqual(Array(100).fill(202));
  }
  expect(await timeOfAnother()).toBeLessThan(OTHERS_WITHIN);
  expect(await stored('state=pending')).toEqual([]);
  const [failed] = await stored('state=failed&limit=1');
  expect(failed?.processing_error).toBe('truncatedAlerts: not an integer from 0 to 2147483647');
  expect(await sender.post({ ...poisoned(0), truncatedAlerts: 0 })).toBe(202);
  await until('its own feed', async () => (await api.get('/alert-groups?q=Poisoned0')).items.length === 1);
});

test('205,000 alerts in one body are set aside with the reason', async () => {
  const alerts = '{"labels":{},"status":"firing","startsAt":"2026-10-03T09:58:00Z"},'.repeat(204_999);
  const body = `{"groupKey":"huge","status":"firing","alerts":[${alerts}{}]}`;
  expect(await sender.postRaw(body)).toBe(202);
  expect(await settled(body)).toMatchObject({
    state: 'failed',
    processing_error: 'alerts: 205000 alerts, and a Snapshot has 10000 at most',
  });
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
});

test('bodies that are small as bytes and large as objects are set aside within the memory', async () => {
  const fill = (unit: string) => unit.repeat(Math.floor((BODY_LIMIT - 200) / unit.length));
  for (const junk of [`[${fill('{},')}0]`, `[${fill('[[]],')}0]`, '['.repeat(BODY_LIMIT - 200)]) {
    const body = `{"groupKey":"junk","status":"firing","alerts":[],"x":${junk}}`;
    expect(await sender.postRaw(body)).toBe(202);
    expect((await settled(body)).state).toBe('failed');
  }
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
});

test('the largest body that is allowed is processed within the memory', async () => {
  const text = 't'.repeat(700);
  const alerts = Array.from({ length: 10_000 }, (_, n) => ({
    labels: { alertname: 'Largest', n: String(n), text },
    annotations: { summary: String(n), text },
  }));
  const body = snapshotBody({ groupKey: 'largest', alerts });
  expect(body.length).toBeGreaterThan(0.95 * BODY_LIMIT);
  expect(await sender.postRaw(body)).toBe(202);
  expect(await timeOfAnother()).toBeLessThan(OTHERS_WITHIN);
  expect((await settled(body)).state).toBe('processed');
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
});

test('a text of 14 MB is cut where people see it, and every list can be read', async () => {
  const long = 'x'.repeat(14_000_000);
  for (const field of ['labels', 'annotations'] as const) {
    const alert = { labels: { alertname: `Long_${field}` }, [field]: { alertname: `Long_${field}`, long } };
    expect(await sender.post({ groupKey: field, alerts: [alert] })).toBe(202);
    const group = await until(
      'its Alert Group',
      async () => (await api.get(`/alert-groups?q=Long_${field}`)).items[0],
      60,
    );
    const [shown] = (await api.get(`/alert-groups/${group.id}/alerts`)).items;
    expect(shown[field].long).toMatch(/^x+… \[cut: 14000000 characters, sha256 [0-9a-f]{16}\]$/);
  }
  await api.get('/alert-groups');
  await api.get(`/integrations/${ready.integration_id}/alerts`);
  expect(peakMemory(tocsin.pid)).toBeLessThan(MEMORY_LIMIT);
});

test('texts and times at every end are taken', async () => {
  const times = ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', '0000-01-01T00:00:00+23:59'];
  const alerts = times.map((startsAt, n) => ({
    ...{ startsAt, fingerprint: `\0${'f'.repeat(10_000)}${n}` },
    labels: { alertname: 'Ends', n: `\0\ud83d${n}`, '\udc00': '', __proto__: 'p' },
    annotations: { '\0': '\ud800' },
  }));
  expect(await sender.post({ groupKey: '\0\ud83d', alerts })).toBe(202);
  const group = await until('its Alert Group', async () => (await api.get('/alert-groups?q=Ends')).items[0]);
  expect((await api.get(`/alert-groups/${group.id}/alerts`)).items).toHaveLength(3);
});

test('a body whose processing ends the process every time is set aside after three times', async () => {
  const alerts = [{ labels: { alertname: 'Deadly' }, annotations: { text: 't'.repeat(2 * 1024 * 1024) } }];
  const body = snapshotBody({ groupKey: 'deadly', alerts });
  const database = await embeddedSettings(path.join(tocsin.dataDir, 'postgres'));
  const sql = connect(database, { max: 2, applicationName: 'outsiders-test' });
  try {
    await sql.begin(async (tx) => {
      // No Snapshot gets through for as long as this is held.
      await tx`lock table presences in share mode`;
      expect(await sender.postRaw(body)).toBe(202);
      for (let attempt = 1; attempt <= 3; attempt++) {
        await until(`attempt ${attempt}`, async () => {
          const [waiting] = await sql`select from snapshot_queue where attempts = ${attempt}`;
          return waiting !== undefined;
        });
        await tocsin.kill();
        if (attempt < 3) await begin();
      }
    });
  } finally {
    await sql.end();
  }
  await begin();
  expect(await settled(body)).toMatchObject({
    state: 'failed',
    processing_error: 'processing: the service ended 3 times while it processed this Snapshot',
  });
  expect(await timeOfAnother()).toBeLessThan(OTHERS_WITHIN);
});
