/** Account links through the API, against the reference bridge. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAccountLinking } from '../../../actors/account-links/linking.ts';
import { createBridgeClient } from '../../../actors/channels/bridge/client.ts';
import { createInfoReader } from '../../../actors/channels/bridge/info-reader.ts';
import { createBridgePlaces } from '../../../actors/channels/bridge/links.ts';
import { createWaitingTokens } from '../../../actors/connection/tokens.ts';
import { NO_PROXY } from '../../../actors/proxy-config.ts';
import type { ActorMessage } from '../../../runtime/actor/index.ts';
import { SECOND, systemClock } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createLinkRequestStore } from '../../../storage/access/account-link-requests.ts';
import { createAccountLinkStore } from '../../../storage/access/account-links.ts';
import { readBridgeSettings } from '../../../storage/configuration/connection-rows.ts';
import { createConnectionStore } from '../../../storage/configuration/connections.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { firstStart, NOW, recordedAudit, recordedHints, stoppedClock } from '../../../test/configuration.ts';
import { type ReferenceBridge, startReferenceBridge } from '../../../test/fakes/reference-bridge.ts';
import { until } from '../../../test/harness/until.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { accountLinkOperations } from './account-links.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const RESPONDER = 'SRRESP0NDER000';
const ADMIN = 'SRADM0N0000000';
const BRIDGE = '/me/account-links/bridge';

let api: OperationClient;
let bridge: ReferenceBridge;
let client: OutboundClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;
let records: RequestRecord[];
let connection: string;
let tokensLeft: number;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  audit = recordedAudit();
  hints = recordedHints();
  records = [];
  tokensLeft = 100;
  bridge = await startReferenceBridge();
  const { appendAudit } = audit;
  const store = createConnectionStore({ sql, appendAudit, keyring });
  const author = { by: { kind: 'system', id: null, name: 'test' }, at: NOW, address: null } as const;
  const created = await store.create(
    {
      type: 'bridge',
      name: 'Chat',
      base_url: bridge.url,
      event_mode: 'poll',
      limiter: { limit: 5, per_seconds: 1 },
      proxy: NO_PROXY,
    },
    { token: bridge.token, pushSecret: null, proxyPassword: { kind: 'keep' } },
    author,
  );
  if (created === 'name_taken') throw new Error('the database is not empty');
  connection = created.id;
  for (const [id, login] of [
    [RESPONDER, 'responder'],
    [ADMIN, 'admin'],
  ] as const)
    await user(id, login);
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
    tell: async (_: unknown, message: ActorMessage) => keepInfo(message),
    async ask() {
      if (tokensLeft-- > 0) return { granted: true };
      return { granted: false, dueAt: systemClock.now() + 60 * SECOND };
    },
  };
  const bridgeClient = createBridgeClient(caller);
  const tokens = createWaitingTokens({ system, clock: systemClock });
  const requests = createLinkRequestStore({ sql, appendAudit });
  const operations = accountLinkOperations({
    links: createAccountLinkStore({ sql, appendAudit }),
    linking: createAccountLinking({
      ...{ requests, tokens, log: silentLog, random: randomBytes, publicUrl: 'https://oncall.example.org' },
      places: {
        bridge: createBridgePlaces({
          bridge: bridgeClient,
          infos: createInfoReader({ bridge: bridgeClient, tokens, system, clock: systemClock }),
          opener: { keyring, log: silentLog },
          settings: (id) => readBridgeSettings(sql, id),
        }),
        chat_server: async () => null,
        channel_bot: async () => null,
      },
      languageOf: async () => null,
    }),
    isUser: async (id) => id === RESPONDER || id === ADMIN,
    ...{ hints, log: silentLog, poke: () => undefined },
  });
  api = operationClient({ operations, directory, clock: stoppedClock }, 'responder');
  await learnInfo();
});

afterEach(async () => {
  await client.close();
  await bridge.close();
});

async function user(id: string, login: string): Promise<void> {
  await database.sql()`
    insert into users (id, version, login, login_folded, name, role, source, status, created_at)
    values (${id}, 1, ${login}, ${login}, ${login}, 'responder', 'local', 'active', ${NOW})`;
}

/** What the actor of the Connection does with an Info. */
async function keepInfo(message: ActorMessage): Promise<void> {
  const { read } = message as unknown as { read: { info: object } };
  await database.sql()`
    update connections set info = ${JSON.stringify(read.info)}::text::jsonb, info_at = ${systemClock.now()}`;
}

/** The copy of the Info is as fresh as after a check. */
async function learnInfo(): Promise<void> {
  const answer = await fetch(`${bridge.url}/v1/info`, {
    headers: { authorization: `Bearer ${bridge.token}` },
  });
  await keepInfo({ type: 'info_read', read: { info: await answer.json() } } as ActorMessage);
}

const start = (more: object) => api.post(BRIDGE, { connection_id: connection, ...more });
const startCode = (handle = 'bob@example.org') => start({ method: 'code', handle });

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

/** Texts that the bot wrote to a person, oldest first. */
async function written(person = 'u-18'): Promise<readonly string[]> {
  const answer = await fetch(`${bridge.url}/_sim/messages`);
  const posts = (await answer.json()) as readonly { kind: string; direct_with: string; body: string }[];
  return posts.flatMap(({ kind, direct_with, body }) =>
    kind === 'direct' && direct_with === person ? [body] : [],
  );
}

async function faulty(...faults: readonly object[]): Promise<void> {
  await fetch(`${bridge.url}/_sim/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
}

const codeOf = (text = '') => /code: ([2-9A-Z]{8})\./.exec(text)?.[1] ?? '';

async function linked(handle?: string) {
  const started = await startCode(handle);
  const [text] = (await written(handle === undefined ? 'u-18' : 'u-17')).slice(-1);
  return api.post(`${BRIDGE}/confirmation`, { request_id: started.body.request_id, code: codeOf(text) });
}

test('Connections that can be linked say by which ways', async () => {
  const { items } = (await api.get('/me/account-links/connections')).body;
  expect(items).toEqual([
    {
      id: connection,
      name: 'Chat',
      messenger: 'bridge',
      link_methods: ['token', 'code'],
      handle_kind: 'email',
    },
  ]);
});

describe('a token', () => {
  test('is told once, with its end, and nothing is sent anywhere', async () => {
    const { status, body } = await start({ method: 'token' });
    expect(status).toBe(201);
    expect(body).toEqual({
      token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      deep_link: `${bridge.url}/link/${body.token}`,
      expires_at: expect.any(String),
    });
    expect(records).toEqual([]);
  });

  test('is brought by hand where the bridge has no address for that', async () => {
    await database.sql()`update connections set info = info || '{"link_url_template": null}'`;
    expect((await start({ method: 'token' })).body.deep_link).toBeNull();
  });
});

describe('a code', () => {
  test('is sent to the account, and links it when it comes back', async () => {
    const started = await startCode(' bob@example.org ');
    expect([started.status, started.body.attempts_remaining]).toEqual([202, 5]);
    const [text] = await written();
    expect(text).toMatch(/^Tocsin code: [2-9A-Z]{8}\. Enter it in your profile within 10 min/);
    const typed = codeOf(text)
      .toLowerCase()
      .replace(/^(.{4})/, '$1 ');
    const confirmed = await api.post(`${BRIDGE}/confirmation`, {
      request_id: started.body.request_id,
      code: typed,
    });
    expect([confirmed.status, confirmed.body]).toMatchObject([
      201,
      {
        messenger: 'bridge',
        connection: { name: 'Chat' },
        external_id: 'u-18',
        username: 'bob',
        last_used_at: null,
      },
    ]);
    expect((await api.get('/me/account-links')).body.items).toEqual([confirmed.body]);
    expect(hints.sent).toEqual([{ type: 'account-links', id: RESPONDER }]);
    await until('the bot confirms it', async () => (await written()).length === 2);
    expect((await written())[1]).toBe('Done, you are responder (responder) in Tocsin');
    expect(bridge.refusals()).toEqual([]);
  });

  test('that is wrong is told so, without saying why', async () => {
    const { body } = await startCode();
    const confirm = (code: string) =>
      api.post(`${BRIDGE}/confirmation`, { request_id: body.request_id, code });
    expect(errorsOf(await confirm('XXXXXXXX'))).toEqual([422, 'link_code_invalid /code']);
    expect(
      (await api.as('admin').post(`${BRIDGE}/confirmation`, { request_id: body.request_id, code: 'X' }))
        .status,
    ).toBe(404);
    expect(audit.entries.at(-1)?.details).toMatchObject({ reason: 'wrong_code' });
  });

  test.each<[string, object, readonly (number | string)[]]>([
    [
      'somebody the messenger does not know',
      { handle: 'nobody@example.org' },
      [422, 'messenger_user_not_found /handle'],
    ],
    ['a name of another kind', { handle: 'bob' }, [422, 'messenger_user_not_found /handle']],
    [
      'somebody the bot may not write to',
      { handle: 'carol@example.org' },
      [422, 'messenger_user_not_found /handle'],
    ],
    ['nobody', { handle: undefined }, [400, 'required /handle']],
    ['blanks', { handle: '  ' }, [400, 'too_short /handle']],
    ['a Connection that is none', { connection_id: 'CN0000000000AA' }, [422, 'unknown_id /connection_id']],
  ])('to %s is not sent', async (_, more, expected) => {
    expect(errorsOf(await start({ method: 'code', handle: 'bob@example.org', ...more }))).toEqual(expected);
    expect(await written()).toEqual([]);
  });

  test('is not sent by a bridge that finds nobody or whose bot waits to be spoken to', async () => {
    await database.sql()`update connections set info = jsonb_set(info, '{user_lookup}', '"none"')`;
    expect(errorsOf(await startCode())).toEqual([422, 'unsupported /method']);
  });

  test('that cannot be sent does not count', async () => {
    for (let tries = 0; tries < 6; tries++) {
      await faulty({ operation: 'sendDirectMessage', status: 503, class: 'transient' });
      expect(errorsOf(await startCode())).toEqual([422, 'destination_check_failed /connection_id']);
    }
    expect((await startCode()).status).toBe(202);
  });

  test('is not asked for more often than it may be', async () => {
    for (let tries = 0; tries < 3; tries++) expect((await startCode()).status).toBe(202);
    const refused = await startCode();
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3600']);
  });

  test('is not sent to an account of another user', async () => {
    await linked();
    const refused = await api.as('admin').post(BRIDGE, {
      ...{ connection_id: connection, method: 'code', handle: 'bob@example.org' },
    });
    expect(refused.body).toMatchObject({ status: 409, code: 'account_linked_elsewhere' });
  });

  test.each([0, 1])('without a token of the limiter nothing is stored (%s left)', async (left) => {
    tokensLeft = left;
    const refused = await startCode();
    expect([refused.status, refused.body.type]).toEqual([
      503,
      expect.stringContaining('interactive-budget-exhausted'),
    ]);
    expect([...(await database.sql()`select * from account_link_requests`)]).toEqual([]);
  });
});

describe('links of a user', () => {
  test('are theirs to remove, and nobody else’s', async () => {
    const { body: link } = await linked();
    const path = `/me/account-links/${link.id}`;
    expect((await api.as('admin').delete(path)).status).toBe(404);
    expect((await api.delete(path)).status).toBe(204);
    expect((await api.delete(path)).status).toBe(404);
  });

  test('are seen and removed by an Admin, who adds none', async () => {
    const { body: link } = await linked();
    const admin = api.as('admin');
    const path = `/users/${RESPONDER}/account-links`;
    expect((await admin.get(path)).body.items).toEqual([link]);
    expect((await admin.get('/users/SR00000000NONE/account-links')).status).toBe(404);
    expect((await admin.delete(`/users/${ADMIN}/account-links/${link.id}`)).status).toBe(404);
    expect((await api.get(path)).status).toBe(403);
    expect((await admin.delete(`${path}/${link.id}`)).status).toBe(204);
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'account_link.unlinked',
      actor: { login: 'admin' },
    });
    expect(hints.sent.at(-1)).toEqual({ type: 'account-links', id: RESPONDER });
    expect((await admin.post(path, {})).status).toBe(404);
  });
});

test('neither code nor token stands in a record, the Audit log or the database', async () => {
  const { body } = await start({ method: 'token' });
  await linked();
  await until('the bot confirms it', async () => (await written()).length === 2);
  const [text] = await written();
  const kept = JSON.stringify([
    audit.entries,
    hints.sent,
    [...(await database.sql()`select r::text from account_link_requests r`)],
  ]);
  expect(kept).not.toContain(body.token);
  expect(kept).not.toContain(codeOf(text));
  expect(JSON.stringify(records)).not.toContain(codeOf(text));
});
