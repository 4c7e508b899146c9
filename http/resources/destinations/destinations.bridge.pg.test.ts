import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBridgeCheck } from '../../../actors/channels/bridge/check.ts';
import { createBridgeClient } from '../../../actors/channels/bridge/client.ts';
import { createInfoReader } from '../../../actors/channels/bridge/info-reader.ts';
import { createBridgeTrial } from '../../../actors/channels/bridge/trial.ts';
import { createTrialScenes } from '../../../actors/channels/interactive.ts';
import { createInteractiveTokens, createWaitingTokens } from '../../../actors/connection/tokens.ts';
import { createRouteTemplates, createSceneReader } from '../../../actors/destination/sending/scene.ts';
import { createSampleReader } from '../../../actors/previews/samples.ts';
import type { ActorMessage, Address } from '../../../runtime/actor/index.ts';
import { systemClock, systemMonotonic } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import { newPublicId, type PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { readButtonData } from '../../../runtime/secrets/signed-tokens.ts';
import { createTemplateGroups } from '../../../storage/alert-groups/alert-groups.ts';
import { readBridgeSettings } from '../../../storage/configuration/connection-rows.ts';
import { createConnectionStore } from '../../../storage/configuration/connections.ts';
import { createDestinationStore } from '../../../storage/configuration/destinations.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { createLinkSource } from '../../../storage/configuration/link-source.ts';
import { createSampleSnapshots } from '../../../storage/snapshots/preview-bodies.ts';
import { createStoredSnapshotReader } from '../../../storage/snapshots/stored-snapshots.ts';
import {
  firstStart,
  insertGroup,
  internalAlerts,
  NOW,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { PLAIN_INFO, type ScriptedBridge, startScriptedBridge } from '../../../test/fakes/scripted-bridge.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { connectionOperations } from '../connections/connections.ts';
import { destinationCheckOperations } from './checks.ts';
import { destinationOperations } from './destinations.ts';
import { destinationSecretOperations } from './secrets.ts';
import { destinationTrialOperations } from './trials.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const PROBLEM = { 'content-type': 'application/problem+json' };

let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;
let bridge: ScriptedBridge;
let client: OutboundClient;
/** What actors were told and asked, as `<kind> <type>`. */
let told: string[];
let records: RequestRecord[];
/** Tokens left by the kind of who gives them. */
let tokens: Record<string, number>;
let connectionId: string;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  await empty(sql, 'delivered_messages', 'destination_targets');
  audit = recordedAudit();
  hints = recordedHints();
  told = [];
  records = [];
  tokens = { connection: 100, destination: 100 };
  bridge = await startScriptedBridge();
  bridge.on('GET /v1/channels/alerts%2Fprod', channel('alerts/prod', 'alerts > prod'));
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  client = createOutboundClient({
    clock: systemClock,
    policy: { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] },
  });
  const caller = createOutboundCaller({
    ...{ client, clock: systemClock, log: silentLog, userAgent: 'Tocsin/0.0.0' },
    recorder: { record: (make) => void records.push(make()) },
    metrics: createOutboundMetrics(new Registry()),
  });
  const system = {
    tell: ({ kind }: Address, { type }: ActorMessage) => void told.push(`${kind} ${type}`),
    async ask({ kind, key: id }: Address, { type }: ActorMessage) {
      told.push(`${kind} ${type}`);
      if (type === 'worked') await sql`update destinations set broken_since = null where id = ${id}`;
      if (type !== 'take_token') return undefined;
      tokens[kind] = (tokens[kind] ?? 0) - 1;
      if ((tokens[kind] ?? 0) >= 0) return { granted: true };
      return { granted: false, dueAt: systemClock.now() + 60_000_000 };
    },
  };
  const { appendAudit } = audit;
  const connections = createConnectionStore({ sql, appendAudit, keyring });
  const opener = { keyring, log: silentLog };
  const calls = createBridgeClient(caller);
  const interactive = createInteractiveTokens({ system, clock: systemClock });
  const waiting = createWaitingTokens({ system, clock: systemClock });
  const links = createLinkSource(sql, stoppedClock);
  await links.reload();
  const groups = createTemplateGroups(sql);
  const scenes = createSceneReader({
    groups,
    alerts: groups,
    accountsOf: async () => new Map(),
    failures: { report: () => undefined },
    templates: createRouteTemplates(),
    ...{ directory, links, publicUrl: 'https://tocsin.example.org', version: '0.0.0' },
    ...{ clock: stoppedClock, monotonic: systemMonotonic },
  });
  const samples = createSampleReader({
    snapshots: createSampleSnapshots(sql),
    stored: createStoredSnapshotReader(sql),
    publicUrl: 'https://tocsin.example.org',
  });
  const settings = (id: PublicId) => readBridgeSettings(sql, id);
  const deps = {
    store: createDestinationStore({ sql, appendAudit, keyring, internalAlerts }),
    ...{ directory, hints, system, client },
    interactive: {
      bridge: {
        check: createBridgeCheck({
          ...{ bridge: calls, opener, tokens: interactive, system, clock: systemClock, settings },
        }),
        trial: createBridgeTrial({
          ...{ bridge: calls, opener, keyring, tokens: interactive, clock: systemClock, settings },
          infos: createInfoReader({ bridge: calls, tokens: waiting, system, clock: systemClock }),
        }),
      },
    },
    settings: { forget: () => undefined },
    scenes: createTrialScenes({ scenes, samples, links, monotonic: systemMonotonic }),
  };
  const operations = [
    ...connectionOperations({
      ...{ store: connections, directory, hints, client },
      messageWaits: () => undefined,
      channels: {},
      ...{ ingestUrl: 'https://ingest.example.org', publicUrl: 'https://oncall.example.org' },
    }),
    ...destinationOperations(deps),
    ...destinationCheckOperations(deps),
    ...destinationSecretOperations(deps),
    ...destinationTrialOperations(deps),
  ];
  api = operationClient({ operations, directory, clock: stoppedClock });
  const connection = { type: 'bridge', name: 'Zulip', base_url: bridge.url, bot_token: bridge.token };
  connectionId = (await api.post('/connections', { ...connection, proxy: { enabled: false } })).body.id;
  audit.entries.length = 0;
  hints.sent.length = 0;
});

afterEach(async () => {
  client.close();
  await bridge.close();
});

function channel(id: string, name: string) {
  return { status: 200, body: { channel_id: id, name } };
}

const input = (changes: object = {}) => ({
  ...{ type: 'bridge', name: 'prod alerts', connection_id: connectionId, channel_id: 'alerts/prod' },
  ...changes,
});

async function created(changes: object = {}) {
  const answer = await api.post('/destinations', input(changes));
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  told.length = 0;
  records.length = 0;
  return answer.body.destination;
}

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

const forbidden = (detail: string) => ({
  status: 403,
  headers: PROBLEM,
  body: { type: 'about:blank', title: 'Forbidden', status: 403, class: 'forbidden', detail },
});

describe('creating', () => {
  test('checks the channel first, and shows the name that the messenger has for it', async () => {
    const { status, headers, body } = await api.post('/destinations', input());
    expect(status).toBe(201);
    const { destination } = body;
    expect(headers.location).toBe(`/api/v1/destinations/${destination.id}`);
    expect(body.signing_secret).toBeNull();
    expect(destination).toMatchObject({
      type: 'bridge',
      name: 'prod alerts',
      connection_id: connectionId,
      channel_id: 'alerts/prod',
      channel_name: 'alerts > prod',
      limiter: { limit: 5, per_seconds: 1 },
      mentions: { reopen: { everyone: 'none', user_ids: [], groups: [] } },
      health: { state: 'healthy', since: null, reason: null },
      template_error: null,
      warnings: [],
      routes: [],
      etag: '"1"',
    });
    expect(records.map(({ operation, check, connectionId: of }) => [operation, check, of])).toEqual([
      ['getInfo', 'destination_check', connectionId],
      ['checkChannel', 'destination_check', connectionId],
    ]);
    expect(told).toEqual(['connection take_token', 'connection info_read', 'connection take_token']);
    expect(audit.actions()).toEqual(['destination.created']);
    expect(hints.sent).toEqual([{ type: 'destination', id: destination.id }]);
    expect((await api.get(`/connections/${connectionId}`)).body.destination_count).toBe(1);
    expect(bridge.faults).toEqual([]);
  });

  const nobody = { everyone: 'none', user_ids: [], groups: [] };
  const mentions = (changes: object) => ({
    mentions: {
      ...{ new_alert_group: nobody, new_alerts: nobody, reopen: nobody, ack_timeout: nobody },
      ...{ snooze_ended: nobody, rise_to_urgent: nobody },
      ...changes,
    },
  });

  test.each<[object, (string | number)[]]>([
    [{ connection_id: undefined }, [400, 'required /connection_id']],
    [{ connection_id: 'nonsense' }, [400, 'invalid_format /connection_id']],
    [{ channel_id: undefined, name: '' }, [400, 'too_short /name', 'required /channel_id']],
    [{ channel_id: '' }, [400, 'too_short /channel_id']],
    [{ channel_id: 'x'.repeat(513) }, [400, 'too_long /channel_id']],
    [{ connection_id: newPublicId('CN') }, [422, 'unknown_id /connection_id']],
    [{ limiter: { limit: 0, per_seconds: 1 } }, [422, 'out_of_range /limiter/limit']],
    [{ name: ' ' }, [422, 'required /name']],
    [
      mentions({ reopen: undefined }),
      [400, ...['', '/everyone', '/user_ids', '/groups'].map((field) => `required /mentions/reopen${field}`)],
    ],
    [mentions({ other: nobody }), [400, 'invalid_format /mentions/other']],
    [
      mentions({ reopen: { ...nobody, everyone: 'everybody' } }),
      [400, 'invalid_format /mentions/reopen/everyone'],
    ],
    [
      mentions({ reopen: { ...nobody, user_ids: Array.from({ length: 51 }, () => newPublicId('SR')) } }),
      [400, 'too_long /mentions/reopen/user_ids'],
    ],
    [
      mentions({ reopen: { everyone: 'all', user_ids: [], groups: ['oncall'] } }),
      [422, 'unsupported /mentions/reopen/everyone', 'unsupported /mentions/reopen/groups'],
    ],
    [
      mentions({ new_alerts: { ...nobody, user_ids: [newPublicId('SR')] } }),
      [422, 'unknown_id /mentions/new_alerts/user_ids/0'],
    ],
  ])('%j is refused before a messenger is asked', async (changes, expected) => {
    expect(errorsOf(await api.post('/destinations', input(changes)))).toEqual(expected);
    expect(bridge.requests).toEqual([]);
  });

  test('a name that is taken is refused before a messenger is asked', async () => {
    await created();
    const asked = bridge.requests.length;
    const again = await api.post('/destinations', input({ channel_id: 'other' }));
    expect([again.status, again.body.code]).toEqual([409, 'name_taken']);
    expect(bridge.requests).toHaveLength(asked);
  });

  test('a channel that the bot cannot use is not saved; the bridge says why', async () => {
    const why = 'The bot is not subscribed to the stream alerts.';
    bridge.on('GET /v1/channels/alerts%2Fprod', forbidden(why));
    const answer = await api.post('/destinations', input());
    expect(errorsOf(answer)).toEqual([422, 'destination_check_failed /channel_id']);
    expect(answer.body.errors[0].detail).toBe(why);
    expect((await api.get('/destinations')).body.items).toEqual([]);
    expect(audit.entries).toEqual([]);
  });

  test('a token that the bridge refuses is the fault of the Connection', async () => {
    bridge.on('GET /v1/info', forbidden('no'));
    const answer = await api.post('/destinations', input());
    expect(errorsOf(answer)).toEqual([422, 'destination_check_failed /connection_id']);
    expect(bridge.requests).toHaveLength(1);
  });

  test('an answer for another channel is no channel', async () => {
    bridge.on('GET /v1/channels/alerts%2Fprod', channel('other', 'other'));
    const answer = await api.post('/destinations', input());
    expect(errorsOf(answer)).toEqual([422, 'destination_check_failed /channel_id']);
    expect(answer.body.errors[0].detail).toBe('The bridge answered for another channel.');
  });

  test('without a limiter token nothing is asked and nothing saved', async () => {
    tokens.connection = 0;
    const answer = await api.post('/destinations', input());
    expect([answer.status, answer.body.retry_after_seconds]).toEqual([503, 60]);
    expect(bridge.requests).toEqual([]);
  });

  test('a Connection that a Destination uses cannot be deleted', async () => {
    await created();
    const answer = await api.delete(`/connections/${connectionId}`);
    expect([answer.status, answer.body.code]).toEqual([409, 'in_use']);
  });
});

describe('updating', () => {
  test('checks again, tells the Destination, and one that is Broken is healthy again', async () => {
    const { id } = await created();
    await database.sql()`update destinations set broken_since = ${NOW}, broken_reason = 'x' where id = ${id}`;
    const limiter = { limit: 2, per_seconds: 60 };
    const { status, headers, body } = await api.put(`/destinations/${id}`, input({ limiter }), '"1"');
    expect([status, headers.etag, body.limiter, body.health.state]).toEqual([200, '"2"', limiter, 'healthy']);
    expect(told.filter((message) => !/token|info/.test(message))).toEqual([
      'destination saved',
      'destination worked',
    ]);
    expect(told).toContain('destination take_token');
    expect(records.map(({ destinationId }) => destinationId)).toEqual([id, id]);
  });

  test('another channel keeps the place that is left, for the last edit of what was posted there', async () => {
    const { id } = await created();
    bridge.on('GET /v1/channels/other', channel('other', 'Other'));
    const { body } = await api.put(`/destinations/${id}`, input({ channel_id: 'other' }), '"1"');
    expect(body).toMatchObject({ channel_id: 'other', channel_name: 'Other' });
    const sql = database.sql();
    expect(await sql`select target, connection_id, channel_id from destination_targets`).toEqual([
      { target: 1, connection_id: connectionId, channel_id: 'alerts/prod' },
    ]);
    expect(await sql`select target from destinations where id = ${id}`).toEqual([{ target: 2 }]);
  });

  test('the check of another channel does not wait for the limiter of the present one', async () => {
    const { id } = await created();
    told.length = 0;
    bridge.on('GET /v1/channels/other', channel('other', 'Other'));
    await api.put(`/destinations/${id}`, input({ channel_id: 'other' }), '"1"');
    expect(told).not.toContain('destination take_token');
    expect(told).toContain('connection take_token');
  });

  test('what the Destination must not miss is stored for it with the change', async () => {
    const { id } = await created();
    const stored = () => database.sql()`
      select message ->> 'type' as type from inbox where receiver_kind = 'destination' and receiver_key = ${id}
      order by seq`;
    await api.put(`/destinations/${id}`, input({ limiter: { limit: 2, per_seconds: 60 } }), '"1"');
    expect(await stored()).toEqual([]);
    bridge.on('GET /v1/channels/other', channel('other', 'Other'));
    await api.put(`/destinations/${id}`, input({ channel_id: 'other' }), '"2"');
    expect(await stored()).toEqual([{ type: 'saved' }]);
    await api.delete(`/destinations/${id}`);
    expect(await stored()).toEqual([{ type: 'saved' }, { type: 'deleted' }]);
  });

  test('a new name of the channel is shown without another version', async () => {
    const destination = await created();
    bridge.on('GET /v1/channels/alerts%2Fprod', channel('alerts/prod', 'renamed\u0000\n channel'));
    const { headers, body } = await api.put(`/destinations/${destination.id}`, destination, '"1"');
    expect([headers.etag, body.channel_name]).toEqual(['"1"', 'renamed channel']);
    expect(audit.actions()).toEqual(['destination.created']);
  });

  test('a failed check leaves everything as it was', async () => {
    const { id } = await created();
    bridge.on('GET /v1/channels/other', forbidden('No such channel.'));
    const changed = input({ name: 'renamed', channel_id: 'other' });
    expect(errorsOf(await api.put(`/destinations/${id}`, changed, '"1"'))).toEqual([
      422,
      'destination_check_failed /channel_id',
    ]);
    expect((await api.get(`/destinations/${id}`)).body).toMatchObject({ name: 'prod alerts', etag: '"1"' });
  });

  test.each<[string, string | undefined, object, (string | number)[]]>([
    ['without If-Match', undefined, {}, [428]],
    ['with a stale If-Match', '"7"', { name: ' ' }, [412]],
    ['of the type', '"1"', { type: 'webhook', mode: 'events' }, [422, 'invalid_format /type']],
  ])('%s is refused', async (_name, ifMatch, changes, expected) => {
    const { id } = await created();
    expect(errorsOf(await api.put(`/destinations/${id}`, input(changes), ifMatch))).toEqual(expected);
    expect(records).toEqual([]);
  });
});

test('it has neither Secrets nor a signing secret', async () => {
  const { id } = await created();
  const answers = [
    await api.get(`/destinations/${id}/secrets`),
    await api.put(`/destinations/${id}/secrets/token`, { value: 'x' }),
    await api.delete(`/destinations/${id}/secrets/token`),
    await api.get(`/destinations/${id}/signing-secret`),
    await api.post(`/destinations/${id}/signing-secret`),
    await api.delete(`/destinations/${id}/signing-secret/previous`),
  ];
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
    answers.map(() => [409, 'not_webhook_destination']),
  );
});

describe('the check', () => {
  test('passes by step, and ends Broken', async () => {
    const { id } = await created();
    await database.sql()`update destinations set broken_since = ${NOW}, broken_reason = 'x' where id = ${id}`;
    const { status, body } = await api.post(`/destinations/${id}/checks`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ok: true,
      checks: [
        { name: 'token', ok: true, message: null },
        { name: 'channel_exists', ok: true, message: null },
      ],
      health: { state: 'healthy' },
    });
    expect(records.map(({ checkRun }) => checkRun)).toEqual([body.request_log_run, body.request_log_run]);
  });

  test('finds the name that the channel has now', async () => {
    const { id } = await created();
    bridge.on('GET /v1/channels/alerts%2Fprod', channel('alerts/prod', 'Production'));
    hints.sent.length = 0;
    await api.post(`/destinations/${id}/checks`);
    expect(hints.sent).toEqual([{ type: 'destination', id }]);
    await api.post(`/destinations/${id}/checks`);
    expect(hints.sent).toHaveLength(1);
    expect((await api.get('/destinations?type=bridge')).body.items).toMatchObject([
      { id, channel_name: 'Production', etag: '"1"' },
    ]);
  });

  test('a bot that is asked to wait is left alone by everything of its Connection', async () => {
    const { id } = await created();
    const body = { type: 'about:blank', title: 'Slow', status: 429, class: 'rate_limited', scope: 'bot' };
    bridge.on('GET /v1/info', { status: 429, headers: { ...PROBLEM, 'retry-after': '7' }, body });
    expect((await api.post(`/destinations/${id}/checks`)).body.ok).toBe(false);
    expect(told).toContain('connection hold');
  });

  test('one that fails changes nothing, and says what the bridge says', async () => {
    const { id } = await created();
    bridge.on('GET /v1/channels/alerts%2Fprod', forbidden('The bot was removed.'));
    await database.sql()`update destinations set broken_since = ${NOW}, broken_reason = 'x' where id = ${id}`;
    const { body } = await api.post(`/destinations/${id}/checks`);
    expect(body).toMatchObject({
      ok: false,
      checks: [
        { name: 'token', ok: true },
        { name: 'channel_exists', ok: false, message: 'The bot was removed.' },
      ],
      health: { state: 'broken', reason: 'x' },
    });
    expect(told).not.toContain('destination worked');
  });

  test('takes a token of the Destination and of its Connection, or of neither', async () => {
    const { id } = await created();
    tokens.connection = 0;
    const answer = await api.post(`/destinations/${id}/checks`);
    expect([answer.status, answer.body.retry_after_seconds]).toEqual([503, 60]);
    expect(told).toEqual(['destination take_token', 'connection take_token', 'destination token_returned']);
  });
});

describe('a test', () => {
  const accepted = {
    status: 201,
    body: { message_id: 'm-1', thread_ref: null, truncated: false, replayed: false },
  };

  test('posts one Quiet message of the example, with buttons that say it was a test', async () => {
    bridge.on('POST /v1/messages', accepted);
    const { id } = await created();
    const { status, body } = await api.post(`/destinations/${id}/tests`);
    expect(status).toBe(200);
    const [step] = body.steps;
    expect(body.steps).toHaveLength(1);
    expect(step).toMatchObject({
      name: 'message',
      response_status: 201,
      extracted: null,
      error_class: 'none',
      error: null,
    });
    expect(step.request).toMatchObject({ method: 'POST', url: `${bridge.url}/v1/messages` });
    expect(JSON.stringify(step)).not.toContain(bridge.token);
    const posted = bridge.requests.at(-1);
    expect(posted?.headers['idempotency-key']).toBe(`test-${body.request_log_run}`);
    expect(posted?.body).toMatchObject({
      kind: 'test',
      notify: false,
      mentions: [],
      channel_id: 'alerts/prod',
    });
    expect(posted?.body.title).toContain('· 🧪 Test message');
    const [button] = posted?.body.buttons ?? [];
    expect(readButtonData(keyring, button.data)).toMatchObject({
      ok: true,
      button: { subject: 'test_message', id, command: 'acknowledge' },
    });
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'destination.tested',
      details: {
        source: { kind: 'example', alert_group_id: null },
        steps: [{ name: 'message', error_class: 'none' }],
      },
    });
    const known = await database.sql()`select message_id, kind, is_present from delivered_messages`;
    expect(known).toEqual([{ message_id: 'm-1', kind: 'test', is_present: false }]);
    expect(bridge.faults).toEqual([]);
  });

  test('of an Alert Group takes one of its Routes only', async () => {
    bridge.on('POST /v1/messages', accepted);
    const { id } = await created();
    const sql = database.sql();
    const [route] = await sql<{ id: string }[]>`select id from routes`;
    const groupId = await insertGroup(sql, { routeId: route?.id ?? '' });
    const of = (alert_group_id: unknown) => ({ source: { kind: 'alert_group', alert_group_id } });
    const path = `/destinations/${id}/tests`;
    const refused = async (body: object) => errorsOf(await api.post(path, body));
    expect(await refused(of(undefined))).toEqual([422, 'required /source/alert_group_id']);
    expect(await refused(of(groupId))).toEqual([422, 'unknown_id /source/alert_group_id']);
    await sql`update routes set destination_ids = ${JSON.stringify([id])}::text::jsonb`;
    await api.put(`/destinations/${id}`, input({ name: 'on a Route' }), '*');
    const { body } = await api.post(path, of(groupId));
    expect(body.steps[0]).toMatchObject({ error_class: 'none' });
    expect(bridge.requests.at(-1)?.body.title).toContain('Disk full · 🧪 Test message');
    expect(await sql`select group_id from delivered_messages`).toEqual([{ group_id: groupId }]);
  });

  test.each<[string, { status: number; headers?: Record<string, string>; body: unknown }, string]>([
    ['a right is missing', forbidden('no right to post'), 'fatal'],
    ['the messenger is slow', { status: 429, headers: { 'retry-after': '7' }, body: {} }, 'retry_after'],
    ['the bridge is away', { status: 502, body: {} }, 'transient'],
    ['the answer is none', { status: 201, body: {} }, 'unknown'],
  ])('%s: the step says so, and nothing else changes', async (_name, answer, errorClass) => {
    bridge.on('POST /v1/messages', answer);
    const { id } = await created();
    await database.sql()`update destinations set broken_since = ${NOW}, broken_reason = 'x' where id = ${id}`;
    const { body } = await api.post(`/destinations/${id}/tests`, {});
    expect(body.steps[0]).toMatchObject({ error_class: errorClass, response_status: answer.status });
    expect(body.steps[0].error).not.toBeNull();
    expect(body.health.state).toBe('broken');
    expect(told).not.toContain('destination worked');
    expect(await database.sql()`select 1 from delivered_messages`).toHaveLength(0);
  });

  test('without a token nothing is sent', async () => {
    const { id } = await created();
    await database.sql()`update connections set info = ${JSON.stringify(PLAIN_INFO)}::text::jsonb, info_at = ${systemClock.now()}`;
    tokens.destination = 0;
    const { body } = await api.post(`/destinations/${id}/tests`);
    expect(body.steps[0]).toMatchObject({ error_class: 'limited', request: null, response_status: null });
    expect(body.request_log_run).toBeNull();
    expect(records).toEqual([]);
  });

  test('needs destinations:test', async () => {
    const { id } = await created();
    expect((await api.as('responder').post(`/destinations/${id}/tests`)).status).toBe(403);
  });
});

test('a preview shows what would be posted, and sends nothing', async () => {
  const { id } = await created();
  const { status, body } = await api.post(`/destinations/${id}/previews`);
  expect(status).toBe(200);
  expect(body.items).toMatchObject([{ name: 'message', format: 'commonmark', request: null }]);
  expect(body.items[0].text).toContain('[Ack] [Resolve]');
  expect(records).toEqual([]);
  expect(audit.actions()).toEqual(['destination.created']);
});
