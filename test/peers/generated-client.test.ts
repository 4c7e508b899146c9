/** Clients made by generators of others from the description that Tocsin serves, in TypeScript and in Python, at work. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Converter } from '@apiture/openapi-down-convert';
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
let token: string;

beforeAll(async () => {
  ready = await tocsin.start();
  admin = await Api.signIn(ready);
  const created = await admin.post('/me/personal-access-tokens', {
    name: 'generated client',
    permissions: ['routes:read', 'routes:write', 'alert-groups:read', 'alert-groups:acknowledge'],
  });
  token = created.value;
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
  person = clientOf({ baseUrl: ready.app_url, auth: bearer(token) });
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

const run = promisify(execFile);
const GENERATOR = createRequire(import.meta.url).resolve(
  '@openapitools/openapi-generator-cli/bin/openapi-generator.jar',
);

/**
 * OpenAPI Generator, as far as a package registry has it whole: this release reads OpenAPI 3.0, so the description is
 * converted first. Newer releases can only be downloaded. Its templates know no type of an object without fields, so a
 * map stays as it is.
 */
async function generatePython(into: string): Promise<void> {
  const description = new Converter(await admin.get('/openapi.json'), { allOfTransform: true }).convert();
  const input = path.join(into, 'openapi-3.0.json');
  await writeFile(input, JSON.stringify(withoutNullType(description)));
  const options = ['--package-name', 'tocsin', '--skip-validate-spec', '--type-mappings', 'map=object'];
  await run(
    '/usr/bin/java',
    ['-jar', GENERATOR, 'generate', '-g', 'python', '-i', input, '-o', into, ...options],
    {
      maxBuffer: 64 * 1024 * 1024,
    },
  );
}

/** OpenAPI 3.0 has no type `null`: an alternative of that type, which the converter leaves, becomes `nullable`. */
function withoutNullType(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNullType);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withoutNullType(member)]),
  );
  if (Array.isArray(members.enum)) members.enum = members.enum.filter((word: unknown) => word !== null);
  const { anyOf, ...rest } = members;
  if (!Array.isArray(anyOf) || anyOf.every(({ type }) => type !== 'null')) return members;
  const others = anyOf.filter(({ type }) => type !== 'null');
  return { ...rest, nullable: true, [others.length === 1 ? 'allOf' : 'anyOf']: others };
}

test('in Python, does the same', async () => {
  const python = await mkdtemp(path.join(folder, 'python-'));
  await generatePython(python);
  const program = path.join(import.meta.dirname, 'generated_client.py');
  const words = [
    ...[program, `${ready.app_url}`, new URL(ready.ingest_endpoint).origin],
    ...[token, ready.integration_token ?? ''],
  ];
  const { stdout } = await run('/usr/bin/python3', words, { env: { PYTHONPATH: python } });
  expect(JSON.parse(stdout)).toEqual({
    ...{ route: 'Queues', outcome: 'done', status: 'acknowledged', owner: ready.login, started: true },
    refusal: { status: 400, title: 'Validation failed' },
  });
});
