import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBridgeConnectionCheck } from '../../../actors/channels/bridge/check.ts';
import { createBridgeClient } from '../../../actors/channels/bridge/client.ts';
import { readInfo } from '../../../actors/channels/bridge/info.ts';
import { createBotConnectionCheck } from '../../../actors/channels/channel-bot/check.ts';
import { createBotClient } from '../../../actors/channels/channel-bot/client.ts';
import { createChatChannels, createChatConnectionCheck } from '../../../actors/channels/chat-server/check.ts';
import { createChatClient } from '../../../actors/channels/chat-server/client.ts';
import { createInteractiveTokens, createWaitingTokens } from '../../../actors/connection/tokens.ts';
import type { ActorMessage, Address } from '../../../runtime/actor/index.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import {
  readBridgeSettings,
  readChannelBotSettings,
  readChatServerSettings,
} from '../../../storage/configuration/connection-rows.ts';
import { createConnectionStore } from '../../../storage/configuration/connections.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { firstStart, recordedAudit, recordedHints, stoppedClock } from '../../../test/configuration.ts';
import { type RunningChatServer, startChatServer } from '../../../test/fakes/chat-server/http.ts';
import { PLAIN_INFO, type ScriptedBridge, startScriptedBridge } from '../../../test/fakes/scripted-bridge.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { connectionCheckOperations } from './checks.ts';
import { connectionOperations } from './connections.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const OFF = { enabled: false };
/** A proxy that nobody listens at. */
const PROXY = { enabled: true, type: 'http', address: '127.0.0.1:9', username: 'me', password: 'pr0xy-pass' };

let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;
let bridge: ScriptedBridge;
let client: OutboundClient;
let told: ActorMessage[];
let waiting: Address[];
let records: RequestRecord[];
let tokensLeft: number;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  audit = recordedAudit();
  hints = recordedHints();
  told = [];
  waiting = [];
  records = [];
  tokensLeft = 100;
  bridge = await startScriptedBridge();
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
    tell: () => undefined,
    async ask(_to: Address, message: ActorMessage) {
      told.push(message);
      if (message.type !== 'take_token') return undefined;
      return tokensLeft-- > 0 ? { granted: true } : { granted: false, dueAt: systemClock.now() + 60_000_000 };
    },
  };
  const store = createConnectionStore({ sql, appendAudit: audit.appendAudit, keyring });
  const opening = { opener: { keyring, log: silentLog }, clock: systemClock };
  const operations = [
    ...connectionOperations({
      ...{ store, directory, hints, client },
      messageWaits: (to) => void waiting.push(to),
      ...{ ingestUrl: 'https://ingest.example.org', publicUrl: 'https://oncall.example.org' },
      channels: {
        chat_server: createChatChannels({
          ...{ ...opening, chat: createChatClient(caller) },
          tokens: createInteractiveTokens({ system, clock: systemClock }),
          settings: (id) => readChatServerSettings(sql, id),
        }),
      },
    }),
    ...connectionCheckOperations({
      poke: () => undefined,
      ...{ system, client, clock: systemClock },
      tokens: createWaitingTokens({ system, clock: systemClock }),
      checks: {
        bridge: createBridgeConnectionCheck({
          ...{ ...opening, bridge: createBridgeClient(caller) },
          settings: (id) => readBridgeSettings(sql, id),
        }),
        chat_server: createChatConnectionCheck({
          ...{ ...opening, chat: createChatClient(caller) },
          settings: (id) => readChatServerSettings(sql, id),
        }),
        channel_bot: createBotConnectionCheck({
          ...{ ...opening, bot: createBotClient(caller) },
          settings: (id) => readChannelBotSettings(sql, id),
        }),
      },
    }),
  ];
  api = operationClient({ operations, directory, clock: stoppedClock });
});

afterEach(async () => {
  client.close();
  await bridge.close();
});

const input = (changes: object = {}) => ({
  ...{ type: 'bridge', name: 'Zulip', base_url: bridge.url, bot_token: bridge.token, proxy: OFF },
  ...changes,
});

async function created(changes: object = {}) {
  const answer = await api.post('/connections', input(changes));
  expect(answer.status).toBe(201);
  return answer.body;
}

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

function steps({ body }: Answered): readonly (readonly [unknown, unknown])[] {
  return body.steps.map(({ ok, skipped, message }: Record<string, unknown>) => [
    skipped ? 'skipped' : ok,
    message,
  ]);
}

/** Messages that were stored for the actor with the changes. */
async function stored(): Promise<readonly { type: string; access: number; polls: boolean }[]> {
  const rows = await database.sql()`select message from inbox order by seq`;
  return rows.map(({ message }) => message);
}

describe('creating', () => {
  test('answers the Connection with its defaults, and no secret', async () => {
    const connection = await created({ push_secret: SECRET, base_url: `${bridge.url}/zulip/` });
    expect(connection).toMatchObject({
      type: 'bridge',
      name: 'Zulip',
      base_url: `${bridge.url}/zulip`,
      event_mode: 'poll',
      limiter: { limit: 5, per_seconds: 1 },
      proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
      bot_token_status: { set: true },
      push_secret_status: { set: true },
      bot_username: null,
      destination_count: 0,
      account_link_count: 0,
      callback_url: `https://ingest.example.org/api/v1/callbacks/bridge/${connection.id}`,
      inbound: { last_at: null, error: null, since: null },
      info: null,
      info_updated_at: null,
      warnings: [{ kind: 'base_url_uses_http', field: '/base_url' }],
      etag: '"1"',
    });
    const everything = JSON.stringify([connection, audit.entries, await stored()]);
    for (const secret of [bridge.token, SECRET]) expect(everything).not.toContain(secret);
    expect(audit.actions()).toEqual(['connection.created']);
    expect(hints.sent).toEqual([{ type: 'connection', id: connection.id }]);
    expect(await stored()).toMatchObject([{ type: 'configured', version: 1, access: 1, polls: true }]);
    expect(waiting).toEqual([{ kind: 'connection', key: connection.id }]);
    expect(bridge.requests).toEqual([]);
  });

  test('the secrets lie sealed in the database', async () => {
    const { id } = await created({ push_secret: SECRET, proxy: PROXY });
    const [row] = await database.sql()`select * from connections`;
    const opened = [
      keyring.open('connection.bridge_token', id, row?.bridge_token),
      keyring.open('connection.bridge_push_secret', id, row?.bridge_push_secret),
      keyring.open('connection.proxy_password', id, row?.proxy_password),
    ];
    expect(opened.map((each) => each.ok && each.value)).toEqual([bridge.token, SECRET, PROXY.password]);
    expect(JSON.stringify(row)).not.toContain(bridge.token);
  });

  test.each<[object, readonly (number | string)[]]>([
    [{ name: '  ' }, [422, 'required /name']],
    [{ bot_token: undefined }, [422, 'required /bot_token']],
    [{ bot_token: null }, [422, 'required /bot_token']],
    [{ bot_token: '' }, [422, 'too_short /bot_token']],
    [{ bot_token: 'two words' }, [422, 'invalid_format /bot_token']],
    [{ base_url: undefined }, [400, 'required /base_url']],
    [{ base_url: 'ftp://bridge.example' }, [422, 'invalid_format /base_url']],
    [{ base_url: 'https://me:pass@bridge.example' }, [422, 'invalid_format /base_url']],
    [{ base_url: 'https://bridge.example/?a=1' }, [422, 'invalid_format /base_url']],
    [{ base_url: 'https://bridge.example/#a' }, [422, 'invalid_format /base_url']],
    [{ base_url: `https://bridge.example/${'a'.repeat(2000)}` }, [422, 'invalid_format /base_url']],
    [{ event_mode: 'push' }, [422, 'required /push_secret']],
    [{ event_mode: 'push', push_secret: 'whsec_short' }, [422, 'invalid_format /push_secret']],
    [{ push_secret: '' }, [422, 'too_short /push_secret']],
    [{ event_mode: 'carrier pigeon' }, [400, 'invalid_format /event_mode']],
    [
      { limiter: { limit: 0, per_seconds: 3601 } },
      [422, 'out_of_range /limiter/limit', 'out_of_range /limiter/per_seconds'],
    ],
    [{ proxy: undefined }, [400, 'required /proxy', 'required /proxy/enabled']],
    [{ proxy: { enabled: true } }, [422, 'required /proxy/type', 'required /proxy/address']],
  ])('%j is refused', async (changes, expected) => {
    expect(errorsOf(await api.post('/connections', input(changes)))).toEqual(expected);
  });

  test('a name belongs to one', async () => {
    await created();
    expect((await api.post('/connections', input())).body).toMatchObject({ status: 409, code: 'name_taken' });
  });

  test('only an Admin may', async () => {
    expect((await api.as('responder').post('/connections', input())).status).toBe(403);
    expect((await api.as('responder').get('/connections')).status).toBe(200);
  });
});

describe('changing', () => {
  const path = (id: string) => `/connections/${id}`;
  const put = (id: string, body: object, etag = '"1"') => api.put(path(id), body, etag);

  test('what is left out stays, and the same again changes nothing', async () => {
    const { id } = await created({
      event_mode: 'push',
      push_secret: SECRET,
      limiter: { limit: 9, per_seconds: 2 },
    });
    const same = await put(id, input({ bot_token: undefined, event_mode: 'push' }));
    expect(same.body).toMatchObject({
      etag: '"1"',
      limiter: { limit: 9 },
      push_secret_status: { set: true },
    });
    expect(audit.actions()).toEqual(['connection.created']);
  });

  test('another address needs the token again: the stored one goes nowhere else', async () => {
    const { id } = await created();
    const elsewhere = { base_url: 'https://other.example', bot_token: undefined };
    expect(errorsOf(await put(id, input(elsewhere)))).toEqual([422, 'required /bot_token']);
    const slash = await put(id, input({ base_url: `${bridge.url}/`, bot_token: undefined }));
    expect(slash.status).toBe(200);
  });

  test('another token or address makes the actor forget what it knew', async () => {
    const { id } = await created();
    const read = readInfo(PLAIN_INFO);
    const info = JSON.stringify(read.ok && read.info);
    await database.sql()`update connections set info = ${info}::text::jsonb, info_at = 1`;
    const named = await put(id, input({ bot_token: undefined, name: 'Other' }));
    expect(named.body.info).not.toBeNull();
    const other = await put(id, input({ name: 'Other', bot_token: 'another' }), '"2"');
    expect(other.body).toMatchObject({ info: null, info_updated_at: null, etag: '"3"' });
    expect((await stored()).map(({ access }) => access)).toEqual([1, 1, 2]);
    expect(audit.entries.at(-1)?.diff).toEqual([{ pointer: '/bot_token', secret_changed: true }]);
  });

  test('a push secret is cleared only where nothing is pushed', async () => {
    const { id } = await created({ event_mode: 'push', push_secret: SECRET });
    const body = input({ bot_token: undefined, push_secret: null });
    expect(errorsOf(await put(id, { ...body, event_mode: 'push' }))).toEqual([422, 'required /push_secret']);
    const polled = await put(id, { ...body, event_mode: 'poll' });
    expect(polled.body).toMatchObject({
      event_mode: 'poll',
      push_secret_status: { set: false, updated_at: null },
    });
  });

  test('tells its Destinations, and whether another bot has taken over', async () => {
    const { id } = await created();
    const sql = database.sql();
    await sql`
      insert into destinations (id, version, name, type, mentions, limiter, secrets_version, created_at, connection_id)
      values ('DS0000000000AA', 1, 'alerts', 'bridge', '{}', '{}', 1, 1, ${id})`;
    await put(id, input({ name: 'renamed', bot_token: undefined }));
    await put(id, input({ name: 'renamed', bot_token: 'another' }), '"2"');
    const told = await sql`select message from inbox where receiver_kind = 'destination' order by seq`;
    expect(told.map(({ message }) => message)).toEqual([
      { type: 'saved' },
      { type: 'saved', isOtherAccess: true },
    ]);
  });

  test('the type stays, an old version is refused, and without a version nothing is changed', async () => {
    const { id } = await created();
    const chat = { ...input(), type: 'chat_server', server_url: 'https://chat.example' };
    expect(errorsOf(await put(id, chat))).toEqual([422, 'invalid_format /type']);
    expect((await put(id, input(), '"7"')).status).toBe(412);
    expect((await api.put(path(id), input())).status).toBe(428);
    expect((await put('CN0000000000AA', input())).status).toBe(404);
  });
});

describe('Account links through it', () => {
  const USER = 'SR0000000000AA';
  let id: string;

  beforeEach(async () => {
    ({ id } = await created());
    const sql = database.sql();
    await sql`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      values (${USER}, 1, 'alice', 'alice', 'Alice', 'responder', 'local', 'active', 1)`;
    await sql`
      insert into account_links (id, messenger, space, external_id, user_id, connection_id, created_at)
      values ('AK0000000000AA', 'bridge', ${id}, '18', ${USER}, ${id}, 1)`;
    hints.sent.length = 0;
  });

  const save = (body: object) => api.put(`/connections/${id}`, body, '"1"');
  const left = async () => (await database.sql()`select id from account_links`).length;
  const ended = () => [
    audit.entries
      .filter(({ action }) => action === 'account_link.unlinked')
      .map(({ details }) => details.reason),
    hints.sent.filter(({ type }) => type === 'account-links').map((hint) => hint.id),
  ];

  test('are counted, and live on with another token', async () => {
    expect((await api.get(`/connections/${id}`)).body.account_link_count).toBe(1);
    expect((await save(input({ bot_token: 'another' }))).status).toBe(200);
    expect(await left()).toBe(1);
  });

  test('end with another address: ids of another messenger could be equal by chance', async () => {
    const saved = await save(input({ base_url: 'https://other.example' }));
    expect(saved.body.account_link_count).toBe(0);
    expect([await left(), ...ended()]).toEqual([0, ['connection_changed'], [USER]]);
  });

  test('end with the Connection', async () => {
    expect((await api.delete(`/connections/${id}`)).status).toBe(204);
    expect([await left(), ...ended()]).toEqual([0, ['connection_deleted'], [USER]]);
  });
});

describe('deleting', () => {
  test('wipes every secret and tells the actor', async () => {
    const { id } = await created({ push_secret: SECRET, proxy: PROXY });
    expect((await api.delete(`/connections/${id}`)).status).toBe(204);
    const [row] = await database.sql()`select * from connections`;
    expect([row?.bridge_token, row?.bridge_push_secret, row?.proxy_password]).toEqual([null, null, null]);
    expect((await stored()).at(-1)).toEqual({ type: 'deleted', version: 2 });
    expect((await api.get(`/connections/${id}`)).status).toBe(404);
    expect(audit.actions()).toEqual(['connection.created', 'connection.deleted']);
    expect((await created()).id).not.toBe(id);
  });

  test('is refused while a Destination uses it', async () => {
    const { id } = await created();
    await database.sql()`
      insert into destinations (id, version, name, type, mentions, limiter, secrets_version, created_at, connection_id)
      values ('DS0000000000AA', 1, 'alerts', 'bridge', '{}', '{}', 1, 1, ${id})`;
    const refused = await api.delete(`/connections/${id}`);
    expect(refused.body).toMatchObject({ status: 409, code: 'in_use' });
    expect((await api.get(`/connections/${id}`)).body.destination_count).toBe(1);
    await database.sql()`update destinations set deleted_at = 2`;
    expect((await api.delete(`/connections/${id}`)).status).toBe(204);
  });
});

test('deleting tells whoever still has last edits to make through it, and nobody else', async () => {
  const { id } = await created();
  const sql = database.sql();
  for (const name of ['DS0000000000AA', 'DS0000000000BB']) {
    await sql`
      insert into destinations (
        id, version, name, type, mentions, limiter, secrets_version, created_at, connection_id, deleted_at
      ) values (${name}, 1, ${name}, 'bridge', '{}', '{}', 1, 1, ${id}, 2)`;
    await sql`
      insert into deliveries (
        destination_id, subject, target, route_id, urgent, is_open, state, possible_duplicate, thread_not_attached,
        updated_at, wanted, kept
      ) values (${name}, 'AG0000000000AA', 1, 'RT0000000000AA', false, true, 'pending', false, false, 1,
        ${name.endsWith('BB')}, '{}')`;
  }
  expect((await api.delete(`/connections/${id}`)).status).toBe(204);
  const told = await sql`select receiver_key, message from inbox where receiver_kind = 'destination'`;
  expect(told.map((row) => ({ ...row }))).toEqual([
    { receiver_key: 'DS0000000000BB', message: { type: 'saved' } },
  ]);
});

test('the list goes on from page to page, oldest first', async () => {
  for (const name of ['a', 'b', 'c']) await created({ name });
  const first = (await api.get('/connections?limit=2')).body;
  const second = (await api.get(`/connections?limit=2&cursor=${first.next_cursor}`)).body;
  expect([...first.items, ...second.items]).toHaveLength(3);
  expect(second.next_cursor).toBeNull();
  expect((await api.get('/connections?type=chat_server')).body.items).toEqual([]);
});

test('a bridge has no list of channels', async () => {
  const { id } = await created();
  const answer = await api.get(`/connections/${id}/channels`);
  expect(errorsOf(answer)).toEqual([422, 'unsupported /path/connection_id']);
});

describe('a check', () => {
  const check = (changes: object = {}) => api.post('/connections/checks', input(changes));
  test('probes without the token, then asks with it, and keeps a record of each', async () => {
    const answer = await check();
    expect(answer.body).toMatchObject({ ok: true, bot_name: 'oncall-bot', info: { user_lookup: 'email' } });
    expect(steps(answer)).toEqual([
      [true, null],
      [true, null],
    ]);
    expect(bridge.requests.map(({ withToken }) => withToken)).toEqual([false, true]);
    expect(records.map(({ operation, check, checkRun }) => [operation, check, checkRun])).toEqual([
      ['getInfo', 'connection_check', answer.body.request_log_run],
      ['getInfo', 'connection_check', answer.body.request_log_run],
    ]);
    expect(JSON.stringify(records)).not.toContain(bridge.token);
  });

  test('never sends the token to what is no bridge', async () => {
    bridge.on('GET /v1/info', { status: 200, body: '<html>' });
    const answer = await check();
    expect(answer.body).toMatchObject({ ok: false, info: null });
    expect(steps(answer)).toEqual([
      [false, 'not a bridge'],
      ['skipped', null],
    ]);
    expect(bridge.requests.map(({ withToken }) => withToken)).toEqual([false]);
  });

  test.each<[string, object, string]>([
    ['nothing there', { status: 404 }, 'nothing here: check the path prefix (404)'],
    ['a defect', { status: 500 }, 'unexpected status 500'],
    ['an empty object', { status: 200, body: {} }, 'invalid info: /protocol_version'],
    [
      'another version',
      { status: 200, body: { protocol_version: '2' } },
      'protocol version 2 is not supported',
    ],
    [
      'a redirect',
      { status: 301, headers: { location: 'https://elsewhere.example/' } },
      "redirect to https://elsewhere.example/ not followed: enter the address that answers itself as the Connection's base URL",
    ],
  ])('tells %s', async (_name, reply, message) => {
    bridge.on('GET /v1/info', reply as { status: number });
    expect(steps(await check())[0]).toEqual([false, message]);
  });

  test('tells a refused token, and an address that does not answer', async () => {
    bridge.on('GET /v1/info', { status: 401 });
    expect(steps(await check())).toEqual([
      [true, null],
      [false, 'the token was refused'],
    ]);
    await bridge.close();
    expect(steps(await check())[0]).toEqual([false, 'connection refused']);
  });

  test('warns of a bridge that tells everything to anybody', async () => {
    bridge.on('GET /v1/info', {
      status: 200,
      body: { ...PLAIN_INFO, link_url_template: 'javascript:{token}' },
    });
    const { body } = await check();
    expect(body.ok).toBe(true);
    expect(body.warnings).toEqual([
      { kind: 'base_url_uses_http', field: '/base_url' },
      { kind: 'bridge_info_invalid', field: '/link_url_template' },
      { kind: 'bridge_without_token', field: null },
    ]);
  });

  describe('of a saved Connection', () => {
    const untyped = { bot_token: undefined };

    test('uses the stored token, and what it learns is kept', async () => {
      const { id } = await created();
      const answer = await check({ ...untyped, connection_id: id, base_url: `${bridge.url}/` });
      expect(answer.body.ok).toBe(true);
      expect(bridge.requests.map(({ withToken }) => withToken)).toEqual([false, true]);
      expect(told.map(({ type }) => type)).toEqual(['take_token', 'take_token', 'info_read']);
    });

    test.each<[string, object]>([
      ['another address', { base_url: 'http://127.0.0.1:9' }],
      ['another proxy', { proxy: PROXY }],
    ])('%s never gets the stored token', async (_name, changes) => {
      const { id } = await created();
      const answer = await check({ ...untyped, connection_id: id, ...changes });
      expect(answer.body.steps[1]).toMatchObject({ skipped: true });
      expect(bridge.requests.every(({ withToken }) => !withToken)).toBe(true);
      expect(told.some(({ type }) => type === 'info_read')).toBe(false);
    });

    test('another address that is a bridge is probed, and the rest is skipped', async () => {
      const { id } = await created({ base_url: 'http://127.0.0.1:9' });
      const answer = await check({ ...untyped, connection_id: id });
      expect(answer.body.ok).toBe(true);
      expect(steps(answer)).toEqual([
        [true, null],
        ['skipped', 'no token for this address'],
      ]);
    });

    test('a typed token goes to the typed address and is not kept', async () => {
      const { id } = await created({ base_url: 'http://127.0.0.1:9', bot_token: 'stored' });
      const answer = await check({ connection_id: id });
      expect(answer.body.ok).toBe(true);
      expect(bridge.faults).toEqual([]);
      expect(told.some(({ type }) => type === 'info_read')).toBe(false);
    });

    test('without a token of the limiter nothing is sent', async () => {
      const { id } = await created();
      tokensLeft = 0;
      const answer = await check({ ...untyped, connection_id: id });
      expect([answer.status, answer.body.type]).toEqual([
        503,
        'https://tocsin.invalid/problems/interactive-budget-exhausted',
      ]);
      expect(answer.headers['retry-after']).toBe('60');
      expect(bridge.requests).toEqual([]);
    });

    test('with one token the second step says that there was none', async () => {
      const { id } = await created();
      tokensLeft = 1;
      const answer = await check({ ...untyped, connection_id: id });
      expect(answer.body).toMatchObject({ ok: false });
      expect(steps(answer)[1]).toEqual([false, expect.stringMatching(/^no token of the limiter/)]);
    });
  });

  test.each<[object, readonly (number | string)[]]>([
    [{ connection_id: 'CN0000000000AA' }, [422, 'unknown_id /connection_id']],
    [{ base_url: 'nowhere' }, [422, 'invalid_format /base_url']],
    [{ bot_token: '' }, [422, 'too_short /bot_token']],
    [{ proxy: { enabled: true } }, [422, 'required /proxy/type', 'required /proxy/address']],
    [{ proxy: undefined }, [400, 'required /proxy', 'required /proxy/enabled']],
    [{ type: 'pigeon' }, [400, 'invalid_format /type']],
    [{ type: 'chat_server' }, [400, 'required /server_url']],
  ])('%j is refused', async (changes, expected) => {
    expect(errorsOf(await check(changes))).toEqual(expected);
  });

  test('is refused with a Connection of another type, and to anybody but an Admin', async () => {
    const { id } = await created();
    const chat = { type: 'chat_server', server_url: 'https://chat.example', connection_id: id };
    expect(errorsOf(await check(chat))).toEqual([422, 'unknown_id /connection_id']);
    expect((await api.as('responder').post('/connections/checks', input())).status).toBe(403);
  });
});

describe('a Connection to a chat server', () => {
  const chat = (server: { readonly url: string; readonly token: string }, changes: object = {}) => ({
    ...{
      type: 'chat_server',
      name: 'Mattermost',
      server_url: server.url,
      bot_token: server.token,
      proxy: OFF,
    },
    ...changes,
  });
  let server: RunningChatServer;

  beforeEach(async () => {
    server = await startChatServer();
  });
  afterEach(() => server.close());

  const make = async (changes: object = {}) => {
    const answer = await api.post('/connections', chat(server, changes));
    expect(answer.status).toBe(201);
    return answer.body;
  };

  test('has its own fields and none of a bridge, sends nothing, and is never polled', async () => {
    const connection = await make({
      server_url: `${server.url}/chat/`,
      push_secret: SECRET,
      event_mode: 'push',
    });
    const { id } = connection;
    expect(connection).toMatchObject({
      ...{ type: 'chat_server', server_url: `${server.url}/chat`, limiter: { limit: 5, per_seconds: 1 } },
      callback_url: `https://ingest.example.org/api/v1/callbacks/chat-server/${id}`,
      ...{ bot_token_status: { set: true }, bot_username: null, etag: '"1"' },
      warnings: [{ kind: 'base_url_uses_http', field: '/server_url' }],
    });
    for (const field of ['base_url', 'event_mode', 'push_secret_status', 'info', 'info_updated_at'])
      expect(connection).not.toHaveProperty(field);
    expect(audit.entries[0]?.diff).toContainEqual({ pointer: '/server_url', after: `${server.url}/chat` });
    expect(JSON.stringify([connection, audit.entries, await stored()])).not.toContain(server.token);
    expect(await stored()).toMatchObject([{ type: 'configured', access: 1, polls: false }]);
    expect([server.server.calls, records]).toEqual([[], []]);
    expect((await api.get('/connections?type=chat_server')).body.items).toHaveLength(1);
    expect((await api.get('/connections?type=bridge')).body.items).toEqual([]);
  });

  test.each<[object, readonly (number | string)[]]>([
    [{ server_url: undefined }, [400, 'required /server_url']],
    [{ server_url: 'https://chat.example/?a=1' }, [422, 'invalid_format /server_url']],
    [{ bot_token: undefined }, [422, 'required /bot_token']],
    [{ bot_token: 'two words' }, [422, 'invalid_format /bot_token']],
  ])('%j is refused', async (changes, expected) => {
    expect(errorsOf(await api.post('/connections', chat(server, changes)))).toEqual(expected);
  });

  test('another address needs the token again, and what is left out stays', async () => {
    const { id } = await make();
    const put = (changes: object) =>
      api.put(`/connections/${id}`, chat(server, { bot_token: undefined, ...changes }), '"1"');
    expect(errorsOf(await put({ server_url: 'https://other.example' }))).toEqual([
      422,
      'required /bot_token',
    ]);
    expect((await put({})).body.etag).toBe('"1"');
    const bridged = await api.put(`/connections/${id}`, input(), '"1"');
    expect(errorsOf(bridged)).toEqual([422, 'invalid_format /type']);
  });

  test('Account links live on behind another path of the host, and end with the host', async () => {
    const { id } = await make();
    const sql = database.sql();
    await sql`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      values ('SR0000000000AA', 1, 'alice', 'alice', 'Alice', 'responder', 'local', 'active', 1)`;
    await sql`
      insert into account_links (id, messenger, space, external_id, user_id, connection_id, created_at)
      values ('AK0000000000AA', 'chat_server', ${id}, '18', 'SR0000000000AA', ${id}, 1)`;
    const countAt = async (server_url: string, etag: string) =>
      (await api.put(`/connections/${id}`, chat(server, { server_url }), etag)).body.account_link_count;
    expect(await countAt(`${server.url}/moved`, '"1"')).toBe(1);
    expect(await countAt('https://other.example', '"2"')).toBe(0);
    expect(audit.entries.at(-1)?.details).toMatchObject({ reason: 'connection_changed' });
  });

  test('its check tries the address, then the token, and says what the bot may not', async () => {
    const { id } = await make();
    const untyped = { bot_token: undefined, connection_id: id };
    const { body } = await api.post('/connections/checks', chat(server, untyped));
    expect(body).toMatchObject({
      steps: [
        { name: 'dry_probe', ok: true, via: 'direct' },
        { name: 'token', ok: true },
      ],
      ...{ ok: true, bot_name: 'tocsin', info: null, webhook_set: null, pending_updates: null },
      warnings: [
        { kind: 'base_url_uses_http', field: '/server_url' },
        { kind: 'press_answers_in_thread', field: null },
      ],
    });
    expect(told.map(({ type }) => type)).toEqual(['take_token', 'take_token', 'info_read']);
    server.server.settings.permissions.add('create_post_ephemeral');
    const allowed = await api.post('/connections/checks', chat(server, untyped));
    expect(allowed.body.warnings).toEqual([{ kind: 'base_url_uses_http', field: '/server_url' }]);
  });

  test('is warned of plain http, and of nothing with https', async () => {
    const warningsAt = async (server_url: string, name: string) =>
      (await make({ server_url, name })).warnings;
    expect(await warningsAt('HTTP://chat.example', 'plain')).toEqual([
      { kind: 'base_url_uses_http', field: '/server_url' },
    ]);
    expect(await warningsAt('https://chat.example', 'sealed')).toEqual([]);
  });

  test('shows the bot and its warning once they are known', async () => {
    const { id } = await make();
    const info = { bot_id: 'b', bot_username: 'tocsin', max_post_size: 16_383, answers_privately: false };
    await database.sql()`update connections set info = ${JSON.stringify(info)}::text::jsonb, info_at = 1`;
    expect((await api.get(`/connections/${id}`)).body).toMatchObject({
      bot_username: 'tocsin',
      warnings: [{ kind: 'base_url_uses_http' }, { kind: 'press_answers_in_thread', field: null }],
    });
  });

  test('a check never takes the token elsewhere, nor a Connection of another type', async () => {
    const { id } = await make();
    const bridged = await created();
    const elsewhere = chat(server, { server_url: bridge.url, bot_token: undefined, connection_id: id });
    const answer = await api.post('/connections/checks', elsewhere);
    expect(steps(answer)[1]).toEqual(['skipped', null]);
    expect(bridge.requests.every(({ withToken }) => !withToken)).toBe(true);
    const other = await api.post('/connections/checks', chat(server, { connection_id: bridged.id }));
    expect(errorsOf(other)).toEqual([422, 'unknown_id /connection_id']);
  });

  test('lists the channels that its bot has joined, by team and name, and finds by a part of one', async () => {
    const { id } = await make();
    const dev = server.server.addTeam('dev', 'Development');
    server.server.addChannel(dev.id, 'beta', 'Beta', [server.server.bot.id]);
    server.server.addChannel(dev.id, 'other', 'Other');
    const list = (query = '') => api.get(`/connections/${id}/channels${query}`);
    expect((await list()).body.items).toMatchObject([
      { team_name: 'Development', name: 'beta', display_name: 'Beta', type: 'open', archived: false },
      { team_name: 'Operations', name: 'alerts', team_id: server.server.team.id },
    ]);
    expect((await list('?q=BET')).body.items).toHaveLength(1);
    expect((await list(`?team_id=${server.server.team.id}`)).body.items).toHaveLength(1);
    expect((await api.as('responder').get(`/connections/${id}/channels`)).status).toBe(403);
    server.server.settings.token = 'another';
    expect(errorsOf(await list())).toEqual([422, 'destination_check_failed /path/connection_id']);
    tokensLeft = 0;
    expect((await list()).status).toBe(503);
  });
});
