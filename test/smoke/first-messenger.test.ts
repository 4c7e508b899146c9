/** The first thing a new person sees: a message, with no messenger at all (bridge part C). */
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { Sender } from '../harness/sender.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
const PROGRAM = [path.join(root, 'runtime', 'main.ts'), 'quickstart', '--messenger', '0'];

let tocsin: Installation;
let ready: Ready & { readonly messenger_url?: string };

beforeAll(async () => {
  tocsin = new Installation({}, PROGRAM);
  ready = await tocsin.start();
});

afterAll(() => tocsin.remove());

async function messages(): Promise<readonly Json[]> {
  const answer = await fetch(new URL('/_sim/messages', ready.messenger_url));
  expect(answer.status).toBe(200);
  return (await answer.json()) as readonly Json[];
}

test('quickstart with a messenger to try out shows the first Alert Group as a message there', async () => {
  expect(ready.messenger_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const page = await fetch(ready.messenger_url ?? '');
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('text/html'),
  ]);
  const sender = new Sender(ready.ingest_endpoint, ready.integration_token ?? '');
  const alerts = [
    { status: 'firing' as const, labels: { alertname: 'DiskFull', severity: 'critical', host: 'db-1' } },
  ];
  expect(await sender.post({ groupKey: '{}:{alertname="DiskFull"}', alerts })).toBe(202);
  const message = await until('the message', async () =>
    (await messages()).find(({ heading }) => String(heading?.title).includes('DiskFull')),
  );
  expect(message.channel_id).toBe('alerts');
});

test('its channel is a Destination like any other: checked, and used by the Default route', async () => {
  const api = await Api.signIn(ready);
  const { items } = await api.get('/destinations');
  expect(items).toMatchObject([
    { type: 'bridge', name: 'Messenger to try out', channel_id: 'alerts', routes: [{ name: 'Default' }] },
  ]);
  const check = await api.post(`/destinations/${items[0].id}/checks`);
  expect(check).toMatchObject({ ok: true, health: { state: 'healthy' } });
});
