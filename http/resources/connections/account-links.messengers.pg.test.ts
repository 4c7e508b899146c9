/** Account links of chat servers and channel bots through the API, against the strict servers of both. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAccountLinking } from '../../../actors/account-links/linking.ts';
import { createBotClient } from '../../../actors/channels/channel-bot/client.ts';
import { createChannelBotPlaces } from '../../../actors/channels/channel-bot/links.ts';
import { createChatClient } from '../../../actors/channels/chat-server/client.ts';
import { createChatServerPlaces } from '../../../actors/channels/chat-server/links.ts';
import { createServerInfoReader } from '../../../actors/channels/chat-server/server-info.ts';
import type { WaitingTokens } from '../../../actors/connection/tokens.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createLinkRequestStore } from '../../../storage/access/account-link-requests.ts';
import { createAccountLinkStore } from '../../../storage/access/account-links.ts';
import {
  readChannelBotSettings,
  readChatServerSettings,
} from '../../../storage/configuration/connection-rows.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { firstStart, NOW, recordedAudit, recordedHints, stoppedClock } from '../../../test/configuration.ts';
import { type RunningBotApi, startBotApi } from '../../../test/fakes/channel-bot/http.ts';
import { type RunningChatServer, startChatServer } from '../../../test/fakes/chat-server/http.ts';
import type { FakeUser } from '../../../test/fakes/chat-server/server.ts';
import { until } from '../../../test/harness/until.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { accountLinkOperations } from './account-links.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const RESPONDER = 'SRRESP0NDER000';
const ADMIN = 'SRADM0N0000000';
const CHAT = 'CNK7M3QX9P2RTA' as PublicId;
const BOT = 'CNK7M3QX9P2RTB' as PublicId;
const PATH = '/me/account-links/chat-server';

let api: OperationClient;
let chat: RunningChatServer;
let bots: RunningBotApi;
let alice: FakeUser;
let client: OutboundClient;
let audit: ReturnType<typeof recordedAudit>;
let hints: ReturnType<typeof recordedHints>;
let records: RequestRecord[];
let tokensLeft: number;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  [audit, hints, records, tokensLeft] = [recordedAudit(), recordedHints(), [], 100];
  [chat, bots] = await Promise.all([startChatServer(), startBotApi()]);
  alice = chat.server.addUser('alice');
  const sealed = (id: PublicId, token: string) =>
    keyring.sealer(key.id).seal('connection.bridge_token', id, token);
  await sql`
    insert into connections (id, version, name, type, address, access, bridge_token, limiter, created_at)
    values
      (${CHAT}, 1, 'Chat', 'chat_server', ${chat.url}, 1, ${sealed(CHAT, chat.token)}, '{}', ${NOW}),
      (${BOT}, 1, 'Bot', 'channel_bot', ${bots.url}, 1, ${sealed(BOT, bots.token)}, '{}', ${NOW})`;
  for (const [id, login] of Object.entries({ [RESPONDER]: 'responder', [ADMIN]: 'admin' }))
    await sql`
      insert into users (id, version, login, login_folded, name, role, source, status, created_at)
      values (${id}, 1, ${login}, ${login}, ${login}, 'responder', 'local', 'active', ${NOW})`;
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
  const chatClient = createChatClient(caller);
  const { appendAudit } = audit;
  const tokens: Pick<WaitingTokens, 'take'> = {
    take: async () => (tokensLeft-- > 0 ? 'granted' : { retryAfterSeconds: 3 }),
  };
  const operations = accountLinkOperations({
    links: createAccountLinkStore({ sql, appendAudit }),
    linking: createAccountLinking({
      ...{ log: silentLog, random: randomBytes, publicUrl: 'https://oncall.example.org' },
      requests: createLinkRequestStore({ sql, appendAudit }),
      tokens,
      places: {
        bridge: async () => null,
        chat_server: createChatServerPlaces({
          chat: chatClient,
          infos: createServerInfoReader({ chat: chatClient, clock: systemClock, learned: () => undefined }),
          ...{ opener: { keyring, log: silentLog }, keyring, ingestUrl: 'https://ingest.example.org' },
          settings: (id) => readChatServerSettings(sql, id),
        }),
        channel_bot: createChannelBotPlaces({
          ...{ bot: createBotClient(caller), tokens, opener: { keyring, log: silentLog } },
          settings: (id) => readChannelBotSettings(sql, id),
        }),
      },
      languageOf: async () => null,
    }),
    isUser: async (id) => id === RESPONDER || id === ADMIN,
    ...{ hints, log: silentLog, poke: () => undefined },
  });
  api = operationClient({ operations, directory, clock: stoppedClock }, 'responder');
});

afterEach(async () => {
  expect([chat.server.violations, bots.server.violations]).toEqual([[], []]);
  await client.close();
  await Promise.all([chat.close(), bots.close()]);
});

const start = (username: unknown = 'alice', more: object = {}) =>
  api.post(PATH, { connection_id: CHAT, username, ...more });
const confirm = (id: string, code: string, by = api) =>
  by.post(`${PATH}/confirmation`, { request_id: id, code });
const stored = async () => Number((await database.sql()`select 1 from account_link_requests`).count);

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

/** What the bot wrote to alice last, and the code in it. */
const lastText = () => chat.server.posts.at(-1)?.message ?? '';
const lastCode = () => /[2-9A-HJ-NP-Z]{8}/.exec(lastText())?.[0] ?? '';

test('Connections of every messenger say how they are linked', async () => {
  const { items } = (await api.get('/me/account-links/connections')).body;
  expect(items).toEqual([
    { id: BOT, name: 'Bot', messenger: 'channel_bot', link_methods: ['token'], handle_kind: null },
    { id: CHAT, name: 'Chat', messenger: 'chat_server', link_methods: ['code'], handle_kind: null },
  ]);
});

describe('an account of a chat server', () => {
  test('is linked by the code that the bot sends to it, typed in any case with a space', async () => {
    const started = await start(' @Alice ');
    expect([started.status, started.body]).toEqual([
      202,
      { request_id: expect.stringMatching(/^AR/), expires_at: expect.any(String), attempts_remaining: 5 },
    ]);
    const code = lastCode();
    const confirmed = await confirm(
      started.body.request_id,
      ` ${code.slice(0, 4).toLowerCase()} ${code.slice(4)}`,
    );
    expect([confirmed.status, confirmed.body]).toMatchObject([
      201,
      { messenger: 'chat_server', connection: { name: 'Chat' }, external_id: alice.id, username: 'alice' },
    ]);
    expect((await api.get('/me/account-links')).body.items).toEqual([confirmed.body]);
    expect(hints.sent).toEqual([{ type: 'account-links', id: RESPONDER }]);
    expect(audit.entries.at(-1)).toMatchObject({
      action: 'account_link.linked',
      actor: { login: 'responder' },
      details: { messenger: 'chat_server', external_id: alice.id, replaced: null },
    });
    await until('the bot confirms it', async () => lastText().startsWith('Done'));
  });

  test.each<[string, unknown, readonly (number | string)[]]>([
    ['nobody has', 'nobody', [422, 'messenger_user_not_found /username']],
    ['the bot has', 'tocsin', [422, 'messenger_user_not_found /username']],
    ['a deactivated account has', 'gone', [422, 'messenger_user_not_found /username']],
    ['everybody has', 'channel', [422, 'messenger_user_not_found /username']],
    ['is blank', ' @ ', [400, 'too_short /username']],
    ['is too long', 'x'.repeat(65), [400, 'too_long /username']],
  ])('by a name that %s is not linked, and nothing is sent', async (_, name, expected) => {
    chat.server.addUser('gone').deleteAt = 1;
    expect(errorsOf(await start(name))).toEqual(expected);
    const counted = expected[0] === 422 ? 1 : 0;
    expect([await stored(), chat.server.posts]).toEqual([counted, []]);
  });

  test('is not looked for any more after five names that nobody has', async () => {
    for (let tries = 0; tries < 5; tries++) expect((await start(`nobody${tries}`)).status).toBe(422);
    const before = chat.server.calls.length;
    expect((await start('alice')).status).toBe(429);
    expect(chat.server.calls.length).toBe(before);
  });

  test('is asked for through a live chat server alone', async () => {
    for (const id of [BOT, 'CN0000000000AA'])
      expect(errorsOf(await start('alice', { connection_id: id }))).toEqual([
        422,
        'unknown_id /connection_id',
      ]);
    chat.server.settings.token = 'other';
    expect(errorsOf(await start())).toEqual([422, 'destination_check_failed /connection_id']);
  });

  test('that the bot may not write to does not count', async () => {
    chat.server.settings.directMessages = 'team';
    for (let tries = 0; tries < 6; tries++)
      expect(errorsOf(await start())).toEqual([422, 'messenger_user_not_found /username']);
    chat.server.settings.directMessages = 'any';
    expect((await start()).status).toBe(202);
  });

  test('is sent three codes an hour, whoever asks', async () => {
    for (let tries = 0; tries < 3; tries++) expect((await start()).status).toBe(202);
    const refused = await api.as('admin').post(PATH, { connection_id: CHAT, username: 'alice' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '3600']);
  });

  test('of another user is refused before a code is sent', async () => {
    const { body } = await start();
    await confirm(body.request_id, lastCode());
    await until('the bot confirms it', async () => lastText().startsWith('Done'));
    const posts = chat.server.posts.length;
    const refused = await api.as('admin').post(PATH, { connection_id: CHAT, username: 'alice' });
    expect(refused.body).toMatchObject({ status: 409, code: 'account_linked_elsewhere' });
    expect(chat.server.posts).toHaveLength(posts);
    expect(audit.entries.at(-1)?.details).toMatchObject({ messenger: 'chat_server', reason: 'conflict' });
  });

  test('is linked only by who asked, and not after five wrong codes', async () => {
    const { body } = await start();
    const code = lastCode();
    expect((await confirm(body.request_id, code, api.as('admin'))).status).toBe(404);
    expect(
      (await api.post('/me/account-links/bridge/confirmation', { request_id: body.request_id, code })).status,
    ).toBe(404);
    for (let tries = 0; tries < 5; tries++)
      expect(errorsOf(await confirm(body.request_id, 'XXXXXXXX'))).toEqual([422, 'link_code_invalid /code']);
    expect(errorsOf(await confirm(body.request_id, code))).toEqual([422, 'link_code_invalid /code']);
  });

  test.each([0, 2])('is not linked without limiter tokens, and nothing is stored (%s left)', async (left) => {
    tokensLeft = left;
    const refused = await start();
    expect([refused.status, refused.headers['retry-after'], await stored()]).toEqual([503, '3', 0]);
  });

  test('has its code in no record, no Audit entry and no row', async () => {
    const { body } = await start();
    const code = lastCode();
    await confirm(body.request_id, code);
    const rows = await database.sql()`select r::text from account_link_requests r`;
    expect(JSON.stringify([audit.entries, hints.sent, [...rows], records])).not.toContain(code);
  });
});

describe('an account of a channel bot', () => {
  const begin = (id: string = BOT) => api.post('/me/account-links/channel-bot', { connection_id: id });

  test('is linked by a link to the bot, whose name is asked for where it is not known', async () => {
    const { status, body } = await begin();
    expect([status, body]).toEqual([
      201,
      {
        deep_link: expect.stringMatching(/^https:\/\/t\.me\/oncall_bot\?start=[A-Za-z0-9_-]{43}$/),
        expires_at: expect.any(String),
      },
    ]);
    expect([bots.server.calls, await stored()]).toEqual([['getMe'], 1]);
    await database.sql()`
      update connections set info = '{"bot_id": "1", "bot_username": "known_bot"}' where id = ${BOT}`;
    expect((await begin()).body.deep_link).toContain('https://t.me/known_bot?start=');
    expect(bots.server.calls).toEqual(['getMe']);
  });

  test('is linked through a channel bot alone, at most 20 times an hour', async () => {
    expect(errorsOf(await begin(CHAT))).toEqual([422, 'unknown_id /connection_id']);
    for (let tries = 0; tries < 20; tries++) expect((await begin()).status).toBe(201);
    expect((await begin()).status).toBe(429);
  });

  test('is not linked while the bot cannot be asked: the answer says why, without the token', async () => {
    tokensLeft = 0;
    expect((await begin()).status).toBe(503);
    tokensLeft = 100;
    bots.server.settings.token = '654321:another-secret-token';
    const refused = await begin();
    expect(errorsOf(refused)).toEqual([422, 'destination_check_failed /connection_id']);
    expect(refused.body.errors[0].detail).toContain('refuses the bot token');
    expect(JSON.stringify([refused.body, records])).not.toContain(bots.token);
    expect(await stored()).toBe(0);
  });
});
