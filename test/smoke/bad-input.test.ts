/** What senders may do wrong: each gets the answer that keeps their alerts safe, and the service lives on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../harness/api.ts';
import { Sender, snapshotBody } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

let tocsin: Installation;
let ready: Ready;
let api: Api;
let sender: Sender;

beforeAll(async () => {
  tocsin = new Installation();
  ready = await tocsin.start();
  api = await Api.signIn(ready);
  sender = new Sender(ready.ingest_endpoint, ready.integration_token!);
});

afterAll(() => tocsin.remove());

const invalidUtf8 = () => {
  const body = Buffer.from(snapshotBody({ alerts: [{ labels: { alertname: 'Bytes' } }] }));
  body[body.indexOf('Bytes')] = 0xff;
  return new Uint8Array(body);
};

test.each([
  ['broken JSON', () => '{"groupKey": '],
  ['an empty body', () => ''],
  ['another document', () => '[1, 2, 3]'],
  ['very deep nesting', () => `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  [
    'deep nesting inside a field',
    () =>
      `{"groupKey":"k","status":"firing","alerts":[],"x":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
  ],
  ['bytes that are not UTF-8', invalidUtf8],
  [
    'an alert without labels',
    () =>
      '{"groupKey":"k","status":"firing","alerts":[{"status":"firing","startsAt":"2026-10-03T09:58:00Z"}]}',
  ],
])('%s is accepted, kept and does no harm', async (_name, body) => {
  expect(await sender.postRaw(body())).toBe(202);
  const marker = `After${Math.random().toString(36).slice(2)}`;
  expect(await sender.post({ groupKey: marker, alerts: [{ labels: { alertname: marker } }] })).toBe(202);
  await until('the next Snapshot to be processed', async () => {
    const page = await api.get(`/alert-groups?q=${marker}`);
    return page.items.length === 1;
  });
});

test('a wrong token is refused, and so is none', async () => {
  const body = snapshotBody({ alerts: [] });
  expect(await new Sender(ready.ingest_endpoint, 'svc_int_wrong').postRaw(body)).toBe(401);
  const answer = await fetch(ready.ingest_endpoint, { method: 'POST', body });
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  expect(await answer.json()).toMatchObject({
    status: 401,
    type: 'https://tocsin.invalid/problems/unauthenticated',
  });
});

test('17 MB are refused with a valid token, and without one it is the token that is missed', async () => {
  const big = new Uint8Array(17_000_000).fill(0x20);
  expect(await sender.postRaw(big).catch(() => 413)).toBe(413);
  expect(await sender.post({ alerts: [{ labels: { alertname: 'StillThere' } }] })).toBe(202);
});

test('10,000 alerts in one body become one group of 10,000', async () => {
  const alerts = Array.from({ length: 10_000 }, (_, n) => ({ labels: { alertname: 'Many', n: String(n) } }));
  expect(await sender.post({ groupKey: 'many', alerts })).toBe(202);
  const group = await until(
    'the large group',
    async () => {
      const page = await api.get('/alert-groups?q=Many');
      return page.items.find((item: { firing_alert_count: number }) => item.firing_alert_count === 10_000);
    },
    120,
  );
  expect(group.title).toBe('Many');
});

test('a label value of 1 MB is cut with a mark that gives its length, and the Alert is seen', async () => {
  const long = 'x'.repeat(1_000_000);
  expect(
    await sender.post({ groupKey: 'long', alerts: [{ labels: { alertname: 'LongLabel', long } }] }),
  ).toBe(202);
  const group = await until('the group', async () => (await api.get('/alert-groups?q=LongLabel')).items[0]);
  const alerts = await api.get(`/alert-groups/${group.id}/alerts`);
  expect(alerts.items[0].labels.long).toMatch(/^x{4096}… \[cut: 1000000 characters, sha256 [0-9a-f]{16}\]$/);
});
