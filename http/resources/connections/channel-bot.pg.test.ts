/** Connections to channel bots, and the webhook that a save sets or removes (api §14, channel-bot §1.1). */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBotConnectionCheck } from '../../../actors/channels/channel-bot/check.ts';
import { createBotClient } from '../../../actors/channels/channel-bot/client.ts';
import { learnBot } from '../../../actors/channels/channel-bot/receiver.ts';
import { createBotSaving } from '../../../actors/channels/channel-bot/saving.ts';
import { createBotWebhooks } from '../../../actors/channels/channel-bot/webhook.ts';
import type {
  BotSaving,
  ChannelBotFields,
  ChannelBotInfo,
  ConnectionSecrets,
} from '../../../actors/connection/ports.ts';
import { createWaitingTokens } from '../../../actors/connection/tokens.ts';
import { MINUTE, systemClock } from '../../../runtime/clock.ts';
import { type Log, silentLog } from '../../../runtime/log.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey, openSecret } from '../../../runtime/secrets/keyring.ts';
import {
  readChannelBotSettings,
  unknownBots,
  webhooksNotSet,
} from '../../../storage/configuration/connection-rows.ts';
import { createConnectionStore, storeWebhook } from '../../../storage/configuration/connections.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import { firstStart, NOW, recordedAudit, recordedHints, stoppedClock } from '../../../test/configuration.ts';
import { type RunningBotApi, startBotApi } from '../../../test/fakes/channel-bot/http.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { connectionCheckOperations } from './checks.ts';
import { connectionOperations } from './connections.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const opener = { keyring, log: silentLog };
const INGEST = 'https://ingest.example.org';
const OFF = { enabled: false };
/** Where people open the service. */
let publicUrl: string;

let api: OperationClient;
let bots: RunningBotApi;
let client: OutboundClient;
let saving: BotSaving;
let logged: string[];
/** Which Connection is which bot, as the messenger said. */
let learned: (readonly [id: string, access: number, info: ChannelBotInfo, askedAt: number])[];
const settings = (id: PublicId) => readChannelBotSettings(database.sql(), id);

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  bots = await startBotApi();
  logged = [];
  learned = [];
  publicUrl = 'https://oncall.example.org';
  const log: Log = (event) => void logged.push(event);
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  client = createOutboundClient({
    clock: systemClock,
    policy: { policy: 'standard', allowed: ['127.0.0.0/8'], denied: [] },
  });
  const caller = createOutboundCaller({
    ...{ client, clock: systemClock, log: silentLog, userAgent: 'Tocsin/0.0.0' },
    recorder: { record: () => undefined },
    metrics: createOutboundMetrics(new Registry()),
  });
  const bot = createBotClient(caller);
  const random = (size: number) => randomBytes(size);
  saving = createBotSaving({
    ...{ opener, log, settings },
    webhooks: createBotWebhooks({ bot, ingestUrl: INGEST, clock: systemClock, log, random }),
    store: (id, webhook) => storeWebhook(sql, keyring, id, webhook, NOW),
    notSet: () => webhooksNotSet(sql, INGEST, NOW + MINUTE),
    unknown: () => unknownBots(sql),
    learn: (settings) =>
      learnBot({ bot, opener, clock: stoppedClock, learned: (...said) => void learned.push(said) }, settings),
  });
  const system = { tell: () => undefined, ask: async () => ({ granted: true }) };
  const store = createConnectionStore({ sql, appendAudit: recordedAudit().appendAudit, keyring });
  const operations = [
    ...connectionOperations({
      ...{ store, directory, hints: recordedHints(), client, messageWaits: () => undefined },
      ...{ ingestUrl: INGEST, channels: {}, botSaving: saving },
      get publicUrl() {
        return publicUrl;
      },
    }),
    ...connectionCheckOperations({
      ...{ system, client, clock: systemClock, poke: () => undefined },
      tokens: createWaitingTokens({ system, clock: systemClock }),
      checks: {
        channel_bot: createBotConnectionCheck({ bot, opener, clock: systemClock, settings }),
      } as never,
    }),
  ];
  api = operationClient({ operations, directory, clock: stoppedClock });
});

afterEach(async () => {
  client.close();
  await bots.close();
});

const input = (changes: object = {}) => ({
  ...{ type: 'channel_bot', name: 'Bot', bot_api_base_url: bots.url, bot_token: bots.token, proxy: OFF },
  ...changes,
});
const callbackOf = (id: string) => `${INGEST}/api/v1/callbacks/channel-bot/${id}`;
const webhook = () => bots.server.updates.webhook;

async function created(changes: object = {}) {
  const answer = await api.post('/connections', input(changes));
  expect(answer.status).toBe(201);
  return answer.body;
}

async function saved({ id, etag }: { id: string; etag: string }, changes: object): Promise<Answered> {
  return api.put(`/connections/${id}`, input({ bot_token: undefined, ...changes }), etag);
}

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string }[] = body.errors ?? [];
  return [status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)];
}

async function storedSecret(id: string): Promise<string | null> {
  const stored = await settings(id as PublicId);
  const { webhookSecret } = stored ?? { webhookSecret: null };
  return webhookSecret && openSecret(opener, 'connection.webhook_secret_token', id, webhookSecret);
}

describe('a Connection', () => {
  test('polls the public Bot API unless it is told otherwise', async () => {
    const answer = await created({ bot_api_base_url: undefined });
    expect(answer).toMatchObject({
      ...{ type: 'channel_bot', bot_api_base_url: 'https://api.telegram.org', update_mode: 'long_polling' },
      ...{ limiter: { limit: 30, per_seconds: 1 }, bot_username: null, warnings: [] },
      callback_url: callbackOf(answer.id),
    });
    expect(bots.server.calls).toEqual([]);
  });

  test.each<[object, (string | number)[]]>([
    [{ bot_token: 'no-token' }, [422, 'invalid_format /bot_token']],
    [{ bot_token: undefined }, [422, 'required /bot_token']],
    [{ bot_api_base_url: 'nowhere' }, [422, 'invalid_format /bot_api_base_url']],
    [{ update_mode: 'smoke' }, [400, 'invalid_format /update_mode']],
  ])('%j is refused', async (changes, expected) => {
    expect(errorsOf(await api.post('/connections', input(changes)))).toEqual(expected);
  });

  test('warns of plain http, of a foreign webhook, and of a bot that two of them use', async () => {
    const one = await created();
    const other = await created({ name: 'Other' });
    await database.sql()`
      update connections set info = '{"bot_id": "123456", "bot_username": "oncall_bot"}', webhook_blocks = true
      where id = any(${[one.id, other.id]})`;
    const { body } = await api.get(`/connections/${one.id}`);
    expect(body.bot_username).toBe('oncall_bot');
    expect(body.warnings).toEqual([
      { kind: 'base_url_uses_http', field: '/bot_api_base_url' },
      { kind: 'webhook_blocks_polling', field: '/update_mode' },
      { kind: 'bot_used_twice', field: null },
    ]);
    expect((await saved(body, { bot_token: bots.token })).body.warnings).toEqual([
      { kind: 'base_url_uses_http', field: '/bot_api_base_url' },
    ]);
  });

  test('warns that messages have no links where the address of the service has no dot', async () => {
    const { id } = await created();
    publicUrl = 'http://localhost:8080';
    expect((await api.get(`/connections/${id}`)).body.warnings).toContainEqual({
      ...{ kind: 'public_url_not_linkable', field: null },
    });
    publicUrl = 'http://[2001:db8::1]:8080';
    expect((await api.get(`/connections/${id}`)).body.warnings).toHaveLength(1);
  });

  test('is checked before it is saved, in three steps', async () => {
    const { body } = await api.post('/connections/checks', input({ name: undefined }));
    expect(body).toMatchObject({ ok: true, bot_name: 'oncall_bot', webhook_set: false, pending_updates: 0 });
    expect(body.steps.map(({ name }: { name: string }) => name)).toEqual([
      ...['dry_probe', 'get_me', 'get_webhook_info'],
    ]);
  });
});

describe('its webhook', () => {
  test('is set with a secret of its own before it is stored, and removed with it', async () => {
    const made = await created({ update_mode: 'webhook' });
    expect(webhook()).toMatchObject({ url: callbackOf(made.id), secret: await storedSecret(made.id) });
    expect(webhook()?.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(made.warnings).toEqual([{ kind: 'base_url_uses_http', field: '/bot_api_base_url' }]);
    expect(JSON.stringify(made)).not.toContain(webhook()?.secret);
    expect((await api.delete(`/connections/${made.id}`, made.etag)).status).toBe(204);
    expect(webhook()).toBeNull();
  });

  test('comes and goes with the mode; another name leaves it alone', async () => {
    const polling = await created();
    const hooked = (await saved(polling, { update_mode: 'webhook' })).body;
    const { secret } = webhook() ?? {};
    expect(secret).toBe(await storedSecret(polling.id));
    const renamed = (await saved(hooked, { name: 'Renamed' })).body;
    expect(webhook()?.secret).toBe(secret);
    expect((await saved(renamed, { update_mode: 'long_polling' })).status).toBe(200);
    expect([webhook(), await storedSecret(polling.id)]).toEqual([null, null]);
  });

  test('that the messenger refuses stores nothing', async () => {
    const made = await created();
    bots.server.settings.instead = {
      ...{ status: 400, headers: {} },
      body: '{"ok":false,"error_code":400,"description":"Bad Request: bad webhook: IP address is reserved"}',
    };
    const answer = await saved(made, { update_mode: 'webhook' });
    expect(errorsOf(answer)).toEqual([422, 'webhook_call_failed /update_mode']);
    expect(answer.body.errors[0].detail).toContain('bad webhook');
    expect((await api.get(`/connections/${made.id}`)).body.update_mode).toBe('long_polling');
    expect(errorsOf(await api.post('/connections', input({ name: 'New', update_mode: 'webhook' })))).toEqual([
      ...[422, 'webhook_call_failed /update_mode'],
    ]);
    expect((await api.get('/connections')).body.items).toHaveLength(1);
  });

  test('of a name that is taken is removed again', async () => {
    await created();
    const answer = await api.post('/connections', input({ update_mode: 'webhook' }));
    expect(answer.body).toMatchObject({ status: 409, code: 'name_taken' });
    expect(webhook()).toBeNull();
  });

  test('that could not be removed counts as set, unless the messenger did not answer', async () => {
    const made = await created({ update_mode: 'webhook' });
    const secret = await storedSecret(made.id);
    const refused = async (status: number) => {
      bots.server.settings.instead = {
        ...{ status, headers: {} },
        body: `{"ok":false,"error_code":${status},"description":"no"}`,
      };
      return errorsOf(await saved(made, { update_mode: 'long_polling' }));
    };
    expect(await refused(400)).toEqual([422, 'webhook_call_failed /update_mode']);
    expect(await storedSecret(made.id)).toBe(secret);
    expect(await webhooksNotSet(database.sql(), INGEST, NOW + MINUTE)).toEqual([]);
    expect(await refused(500)).toEqual([422, 'webhook_call_failed /update_mode']);
    expect(await webhooksNotSet(database.sql(), INGEST, NOW + MINUTE)).toHaveLength(1);
  });

  test('a stale save leaves it as it is', async () => {
    const made = await created({ update_mode: 'webhook' });
    const { secret } = webhook() ?? {};
    expect((await saved({ ...made, etag: '"99"' }, { update_mode: 'long_polling' })).status).toBe(412);
    expect(webhook()?.secret).toBe(secret);
  });

  test('that was lost shows, and is set again', async () => {
    const made = await created({ update_mode: 'webhook' });
    await storeWebhook(database.sql(), keyring, made.id, { url: null, secret: null }, NOW);
    bots.server.updates.setWebhook(null);
    const { body } = await api.get(`/connections/${made.id}`);
    expect(body.warnings).toContainEqual({ kind: 'webhook_not_set', field: '/update_mode' });
    bots.pass(1_000);
    await saving.restore();
    expect(webhook()).toMatchObject({ url: callbackOf(made.id), secret: await storedSecret(made.id) });
    expect(await webhooksNotSet(database.sql(), INGEST, NOW + MINUTE)).toEqual([]);
    expect(await webhooksNotSet(database.sql(), 'https://moved.example', NOW)).toHaveLength(1);
  });

  test('that nobody checked is asked which bot it is, so that another Connection of the same bot shows', async () => {
    const one = await created({ update_mode: 'webhook' });
    bots.pass(1_000);
    const other = await created({ name: 'Other', update_mode: 'webhook' });
    const info = { bot_id: '123456', bot_username: 'oncall_bot' };
    const { instead } = bots.server.settings;
    bots.server.settings.instead = { status: 502, headers: {}, body: '' };
    await saving.restore();
    expect(learned).toEqual([]);
    bots.server.settings.instead = instead;
    await saving.restore();
    expect(learned.map(([id, , said]) => [id, said]).sort()).toEqual(
      [one.id, other.id].sort().map((id) => [id, info]),
    );
    const ids = [one.id, other.id];
    await database.sql()`update connections set info = ${JSON.stringify(info)}::text::jsonb where id = any(${ids})`;
    expect((await api.get(`/connections/${one.id}`)).body.warnings).toContainEqual({
      ...{ kind: 'bot_used_twice', field: null },
    });
    await saving.restore();
    expect(learned).toHaveLength(2);
  });

  test('a save that is never stored, even without being undone, leaves it to the next restore', async () => {
    const made = await created({ update_mode: 'webhook' });
    const fields: ChannelBotFields = {
      ...{ type: 'channel_bot', name: 'Bot', bot_api_base_url: bots.url, update_mode: 'webhook' },
      ...{ limiter: made.limiter, proxy: { enabled: false, type: null, address: null, username: null } },
    };
    const secrets: ConnectionSecrets = {
      token: bots.token,
      pushSecret: null,
      proxyPassword: { kind: 'keep' },
    };
    bots.pass(1_000);
    const prepared = await saving.prepare(made.id, fields, secrets);
    if (!prepared.ok) throw new Error(prepared.error);
    expect(await webhooksNotSet(database.sql(), INGEST, NOW)).toEqual([]);
    bots.pass(1_000);
    await saving.restore();
    expect(webhook()?.secret).toBe(await storedSecret(made.id));
  });
});
