import { beforeEach, describe, expect, test } from 'vitest';
import type { DirectorySource } from '../../../actors/directory.ts';
import { ON_CALL_POLICY } from '../../../actors/route/policy.ts';
import { silentLog } from '../../../runtime/log.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { createRouteStore, createSuggestionStore } from '../../../storage/configuration/routes.ts';
import {
  firstStart,
  insertDestination,
  internalAlerts,
  NOW,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { routeOperations } from './routes.ts';
import { routeSuggestionOperations } from './suggestions.ts';

const database = useDatabase();
let api: OperationClient;
let directory: DirectorySource;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'route_suggestion_dismissals');
  directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  audit = recordedAudit();
  hints = recordedHints();
  const store = createRouteStore({ sql, appendAudit: audit.appendAudit, internalAlerts });
  const suggestions = createSuggestionStore(sql, audit.appendAudit);
  api = operationClient({
    operations: [
      ...routeOperations({ store, directory, hints, poke: () => undefined, checkTemplates: async () => [] }),
      ...routeSuggestionOperations({ suggestions, directory, hints }),
    ],
    directory,
    clock: stoppedClock,
  });
  await directory.reload();
});

async function insertIntegration(name: string, heartbeat: boolean, labels: object = {}) {
  await database.sql()`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    values (
      ${newPublicId('NT')}, 1, false, ${name}, '', ${JSON.stringify(labels)}::text::jsonb, 45, ${heartbeat}, 300, ${NOW}
    )`;
  await directory.reload();
}

async function withDestination() {
  const id = await insertDestination(database.sql(), `D${Math.random()}`);
  await directory.reload();
  return id;
}

const createRoute = (name: string, label: string, value: string) =>
  api.post('/routes', {
    name,
    matchers: [{ label, op: '=', value }],
    urgent: false,
    group_key: [],
    destination_ids: [],
    policy: ON_CALL_POLICY,
  });
const offered = async (as = api) =>
  (await as.get('/route-suggestions')).body.items.map(({ id }: { id: string }) => id);
const accept = (id: string, body: object = {}) => api.post(`/route-suggestions/${id}/accept`, body);
const names = async () => (await api.get('/routes')).body.items.map(({ name }: { name: string }) => name);
const told = ({ status, body }: { status: number; body: { code?: string; errors?: object[] } }) => [
  status,
  body.errors ?? body.code,
];

describe('heartbeat_lost', () => {
  test('is offered while a Heartbeat is on, and accepted once, on top', async () => {
    expect(await offered()).toEqual([]);
    await insertIntegration('off', false);
    expect(await offered()).toEqual([]);
    await createRoute('Web', 'team', 'web');
    await insertIntegration('lab', true);
    const { body } = await api.get('/route-suggestions');
    expect(body.items).toEqual([
      {
        id: 'heartbeat_lost',
        route: {
          name: 'Tocsin: Heartbeat lost',
          description: '',
          matchers: [{ label: 'alertname', op: '=', value: 'SvcHeartbeatLost' }],
          urgent: true,
          group_key: ['alertname', 'integration'],
          destination_ids: [],
          policy: ON_CALL_POLICY,
        },
      },
    ]);
    const list = (await api.get('/routes')).headers.etag;

    const accepted = await accept('heartbeat_lost');
    expect(accepted).toMatchObject({
      status: 201,
      headers: { etag: '"1"', location: `/api/v1/routes/${accepted.body.id}` },
      body: { ...body.items[0].route, position: 0, is_default: false },
    });
    expect(await names()).toEqual(['Tocsin: Heartbeat lost', 'Web', 'Default']);
    expect((await api.get('/routes')).headers.etag).not.toBe(list);
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'route.created',
      resourceId: accepted.body.id,
      details: { suggestion_id: 'heartbeat_lost' },
    });
    expect(hints.sent.at(-1)).toEqual({ type: 'route', id: accepted.body.id });
    expect(await offered()).toEqual([]);
    expect(told(await accept('heartbeat_lost'))).toEqual([409, 'suggestion_obsolete']);
  });

  test('is accepted with Destinations, if somebody names them', async () => {
    await insertIntegration('lab', true);
    const id = await withDestination();
    const unknown = await accept('heartbeat_lost', { destination_ids: [id, 'DS000000000000', id] });
    expect(told(unknown)).toMatchObject([
      422,
      [
        { pointer: '/destination_ids/1', code: 'unknown_id' },
        { pointer: '/destination_ids/2', code: 'duplicate' },
      ],
    ]);
    expect((await accept('heartbeat_lost', { destination_ids: [id] })).body.destination_ids).toEqual([id]);
  });

  test('stays while a Route takes it for one environment only', async () => {
    await insertIntegration('lab', true, { env: 'lab' });
    await insertIntegration('prod', true, { env: 'prod' });
    await createRoute('Prod', 'env', 'prod');
    expect(await offered()).toEqual(['heartbeat_lost']);
    await createRoute('Lab', 'env', 'lab');
    expect(await offered()).toEqual([]);
  });

  test('of two accepted at once one is obsolete', async () => {
    await insertIntegration('lab', true);
    const answers = await Promise.all([accept('heartbeat_lost'), accept('heartbeat_lost')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('suggestion_obsolete');
  });

  test('is refused while another Route has its name', async () => {
    await insertIntegration('lab', true);
    await createRoute('Tocsin: Heartbeat lost', 'team', 'web');
    expect(told(await accept('heartbeat_lost'))).toEqual([409, 'name_taken']);
  });
});

describe('internal_alerts', () => {
  test('needs a Destination, and stands below the Route that takes a lost Heartbeat', async () => {
    await insertIntegration('lab', true);
    await createRoute('Web', 'team', 'web');
    await accept('heartbeat_lost');
    expect(await offered()).toEqual([]);
    expect(told(await accept('internal_alerts'))).toEqual([409, 'suggestion_obsolete']);
    const id = await withDestination();
    expect(await offered()).toEqual(['internal_alerts']);
    for (const body of [{}, { destination_ids: [] }]) {
      expect(told(await accept('internal_alerts', body))).toMatchObject([
        422,
        [{ pointer: '/destination_ids', code: 'required' }],
      ]);
    }
    const accepted = await accept('internal_alerts', { destination_ids: [id] });
    expect([accepted.status, accepted.body.position, accepted.body.urgent]).toEqual([201, 1, false]);
    expect(accepted.body.group_key).toEqual(['alertname', 'integration', 'destination', 'route']);
    expect(await names()).toEqual(['Tocsin: Heartbeat lost', 'Tocsin internal alerts', 'Web', 'Default']);
    expect(await offered()).toEqual([]);
  });

  test('stands on top when no Route takes an Internal alert', async () => {
    const id = await withDestination();
    await createRoute('Web', 'team', 'web');
    expect((await accept('internal_alerts', { destination_ids: [id] })).body.position).toBe(0);
  });

  test('stands below the lowest Route that takes one of them', async () => {
    const id = await withDestination();
    await createRoute('Broken', 'alertname', 'SvcDestinationBroken');
    await createRoute('Web', 'team', 'web');
    await createRoute('Critical', 'severity', 'critical');
    await createRoute('Last', 'team', 'x');
    // Critical takes no SvcDestinationBroken, but a lost Heartbeat.
    expect((await accept('internal_alerts', { destination_ids: [id] })).body.position).toBe(3);
  });
});

describe('a dismissal', () => {
  test('hides it from that person only, for good; it can still be accepted', async () => {
    await insertIntegration('lab', true);
    const dismiss = () => api.post('/route-suggestions/heartbeat_lost/dismiss');
    expect([(await dismiss()).status, (await dismiss()).status]).toEqual([204, 204]);
    expect(await offered()).toEqual([]);
    expect(await offered(api.as('viewer'))).toEqual(['heartbeat_lost']);
    expect((await accept('heartbeat_lost')).status).toBe(201);
    expect(told(await dismiss())).toEqual([409, 'suggestion_obsolete']);
    expect(audit.actions()).toEqual(['route.created']);
  });
});

test('an unknown suggestion is 404 before its body is looked at', async () => {
  expect((await api.post('/route-suggestions/other/accept', { destination_ids: 5 })).status).toBe(404);
  expect((await api.post('/route-suggestions/RT000000000000/dismiss')).status).toBe(404);
  await insertIntegration('lab', true);
  expect((await accept('heartbeat_lost', { destination_ids: ['x'] })).status).toBe(400);
});

test('only Admins accept; everybody may list and dismiss', async () => {
  await insertIntegration('lab', true);
  const viewer = api.as('viewer');
  expect((await viewer.post('/route-suggestions/heartbeat_lost/accept', {})).status).toBe(403);
  expect(await offered(viewer)).toEqual(['heartbeat_lost']);
  expect((await viewer.post('/route-suggestions/heartbeat_lost/dismiss')).status).toBe(204);
});
