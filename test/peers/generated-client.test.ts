/** A client made by a generator of others from the description that Tocsin serves, at work. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@hey-api/openapi-ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api, type Json } from '../harness/api.ts';
import { Installation, type Ready } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** An operation of the generated client. */
type Call = (
  options?: Json,
) => Promise<{ readonly data: Json; readonly error: Json; readonly response: Response }>;

const tocsin = new Installation();
let ready: Ready;
let admin: Api;
let folder: string;
let sdk: Record<string, Call>;
let person: Json;
let sender: Json;

beforeAll(async () => {
  ready = await tocsin.start();
  admin = await Api.signIn(ready);
  const { value } = await admin.post('/me/personal-access-tokens', {
    name: 'generated client',
    permissions: ['routes:read', 'routes:write', 'alert-groups:read', 'alert-groups:acknowledge'],
  });
  folder = await mkdtemp(path.join(tmpdir(), 'generated-client-'));
  await createClient({
    input: await admin.get('/openapi.json'),
    output: folder,
    logs: { level: 'silent' },
    plugins: ['@hey-api/typescript', '@hey-api/client-fetch', '@hey-api/sdk'],
  });
  sdk = await import(/* @vite-ignore */ path.join(folder, 'sdk.gen.ts'));
  const { createClient: clientOf } = await import(/* @vite-ignore */ path.join(folder, 'client/index.ts'));
  const bearer = (token: string) => (scheme: Json) => (scheme.type === 'http' ? token : undefined);
  person = clientOf({ baseUrl: ready.app_url, auth: bearer(value) });
  const ingest = new URL(ready.ingest_endpoint).origin;
  sender = clientOf({ baseUrl: ingest, auth: bearer(ready.integration_token ?? '') });
});

afterAll(async () => {
  await tocsin.remove();
  await rm(folder, { recursive: true, force: true });
});

async function done(operation: string, options: Json): Promise<Json> {
  const { data, error, response } = await sdk[operation]!(options);
  if (!response.ok) throw new Error(`${operation} answered ${response.status}: ${JSON.stringify(error)}`);
  return data;
}

test('creates a Route, posts a Snapshot and acknowledges the Alert Group', async () => {
  const { items: profiles } = await done('listRouteProfiles', { client: person });
  const { urgent, group_key, policy } = profiles[0];
  const route = await done('createRoute', {
    client: person,
    body: {
      ...{ name: 'Databases', urgent, group_key, policy, destination_ids: [] },
      matchers: [{ label: 'team', op: '=', value: 'db' }],
    },
  });
  const labels = { alertname: 'DiskFull', team: 'db', severity: 'critical' };
  await done('ingestSnapshot', {
    client: sender,
    body: {
      ...{ version: '4', groupKey: '{}:{alertname="DiskFull"}', status: 'firing', receiver: 'tocsin' },
      alerts: [{ status: 'firing', labels, annotations: {}, startsAt: new Date().toISOString() }],
    },
  });
  // Waited for with a session: a token may not ask as often as a test does.
  await until('the Alert Group', async () => (await admin.get(`/alert-groups?route=${route.id}`)).items[0]);
  const { items } = await done('listAlertGroups', {
    client: person,
    query: { route: [route.id], status: ['firing', 'snoozed'], limit: 5, unclaimed: false },
  });
  expect(items).toMatchObject([{ title: expect.any(String), route: { id: route.id } }]);
  const [group] = items;
  const answer = await done('acknowledgeAlertGroup', {
    client: person,
    path: { alert_group_id: group.id },
  });
  expect(answer).toMatchObject({ outcome: 'done', alert_group: { id: group.id, status: 'acknowledged' } });
});

test('is told what it did wrong as a problem', async () => {
  const { error, response } = await sdk.createRoute!({ client: person, body: { name: '' } });
  expect(response.status).toBe(400);
  expect(error).toMatchObject({ title: 'Validation failed', status: 400 });
});
