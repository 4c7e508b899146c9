import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { buildWebhookRequest } from '../../../actors/channels/webhook-events/request.ts';
import { silentLog } from '../../../runtime/log.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import { createWebhookSettings } from '../../../storage/configuration/destination-rows.ts';
import { createDestinationStore } from '../../../storage/configuration/destinations.ts';
import { createDirectory } from '../../../storage/configuration/directory.ts';
import {
  firstStart,
  internalAlerts,
  NOW,
  recordedAudit,
  recordedHints,
  stoppedClock,
} from '../../../test/configuration.ts';
import { type Answered, type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { destinationOperations } from './destinations.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
let api: OperationClient;
let audit: ReturnType<typeof recordedAudit>;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql, key);
  audit = recordedAudit();
  const directory = createDirectory({ sql, clock: stoppedClock, log: silentLog });
  await directory.reload();
  const operations = destinationOperations({
    store: createDestinationStore({ sql, appendAudit: audit.appendAudit, keyring, internalAlerts }),
    directory,
    hints: recordedHints(),
    settings: { forget: () => undefined },
    interactive: {},
    system: { tell: () => undefined, ask: () => Promise.reject(new Error('a webhook is never asked')) },
    client: { release: () => undefined },
  });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

const PASSWORD = 'hunter2-proxy-password';
const PROXY = {
  enabled: true,
  type: 'http',
  address: 'proxy.example:3128',
  username: 'svc',
  password: PASSWORD,
};
const INPUT = {
  type: 'webhook',
  name: 'phone relay',
  mode: 'events',
  events: { url: 'https://relay.example.org/in', headers: [] },
};
const SET = { set: true, updated_at: '2026-09-21T14:13:20Z' };
const NOT_SET = { set: false, updated_at: null };

async function create(proxy?: object | null): Promise<Answered> {
  return api.post('/destinations', { ...INPUT, ...(proxy === undefined ? {} : { proxy }) });
}

/** Saves another proxy and gives what is answered then. */
async function change(id: string, proxy: object | null | undefined) {
  const { headers } = await api.get(`/destinations/${id}`);
  const answer = await api.put(
    `/destinations/${id}`,
    { ...INPUT, ...(proxy === undefined ? {} : { proxy }) },
    headers.etag,
  );
  expect(answer.status).toBe(200);
  return answer.body.proxy;
}

/** The proxy as the next request of the Destination goes through it. */
async function routeOf(id: PublicId) {
  const settings = await createWebhookSettings(database.sql(), stoppedClock).events(id);
  if (!settings) throw new Error('there is no such Destination');
  const built = buildWebhookRequest({ settings, keyring, eventId: 'msg_a', body: Buffer.alloc(0), now: NOW });
  return built.outcome === 'ready' ? built.proxy : built;
}

describe('a proxy of a webhook', () => {
  test('is off and without fields when it was never set', async () => {
    const { body } = await create();
    expect(body.destination.proxy).toEqual({ enabled: false, username: null, password_status: NOT_SET });
  });

  test('is answered without its password, which requests use', async () => {
    const { body } = await create(PROXY);
    const { password: _, ...shown } = PROXY;
    expect(body.destination.proxy).toEqual({ ...shown, password_status: SET });
    expect(await routeOf(body.destination.id)).toEqual({
      type: 'http',
      host: 'proxy.example',
      port: 3128,
      username: 'svc',
      password: PASSWORD,
    });
    const stored = await database.sql()`select * from destinations`;
    expect(JSON.stringify(stored)).not.toContain(PASSWORD);
  });

  test('can be sent back as it was read', async () => {
    const { body } = await create(PROXY);
    expect(await change(body.destination.id, body.destination.proxy)).toEqual(body.destination.proxy);
    expect((await api.get(`/destinations/${body.destination.id}`)).headers.etag).toBe('"1"');
  });

  test.each<[string, object | null | undefined, object]>([
    ['left out keeps everything', undefined, { type: 'http', username: 'svc', password_status: SET }],
    ['null goes back to none', null, { enabled: false, username: null, password_status: NOT_SET }],
    [
      'off keeps its fields',
      { enabled: false },
      { enabled: false, type: 'http', address: PROXY.address, password_status: SET },
    ],
    [
      'another user keeps the password',
      { enabled: true, username: 'other' },
      { username: 'other', password_status: SET },
    ],
    ['an empty user is none', { enabled: true, username: '' }, { username: null }],
    ['null clears the user', { enabled: true, username: null }, { username: null }],
    ['null clears the password', { enabled: true, password: null }, { password_status: NOT_SET }],
    [
      'another type forgets the password',
      { enabled: true, type: 'socks5' },
      { type: 'socks5', password_status: NOT_SET },
    ],
    [
      'another address forgets the password',
      { enabled: true, address: 'other.example:1' },
      { address: 'other.example:1', password_status: NOT_SET },
    ],
    [
      'another address takes a new password',
      { enabled: true, address: 'other.example:1', password: 'new' },
      { address: 'other.example:1', password_status: SET },
    ],
    [
      'the same address spelled otherwise is the same',
      { enabled: true, address: ' PROXY.example:3128 ' },
      { password_status: SET },
    ],
  ])('%s', async (_name, proxy, expected) => {
    const { body } = await create(PROXY);
    expect(await change(body.destination.id, proxy)).toMatchObject(expected);
  });

  test('leaves no stored password behind when its Destination is deleted', async () => {
    const { body } = await create(PROXY);
    await api.delete(`/destinations/${body.destination.id}`);
    const [row] = await database.sql()`select proxy_password, proxy_password_at from destinations`;
    expect(row).toEqual({ proxy_password: null, proxy_password_at: null });
  });

  test('is audited by its fields, and the password only as changed', async () => {
    const { body } = await create(PROXY);
    await change(body.destination.id, { enabled: true, address: 'other.example:1', password: PASSWORD });
    await change(body.destination.id, { enabled: true, password: PASSWORD });
    const [created, updated, again] = audit.entries;
    expect(created?.diff).toContainEqual({ pointer: '/proxy/address', after: PROXY.address });
    expect(created?.diff).toContainEqual({ pointer: '/proxy/password', secret_changed: true });
    expect(updated?.diff).toEqual([
      { pointer: '/proxy/address', before: PROXY.address, after: 'other.example:1' },
      { pointer: '/proxy/password', secret_changed: true },
    ]);
    expect(again?.diff).toEqual([{ pointer: '/proxy/password', secret_changed: true }]);
    expect(JSON.stringify(audit.entries)).not.toContain(PASSWORD);
  });

  test.each<[object, (string | number)[]]>([
    [{}, [400, 'required /proxy/enabled']],
    [{ ...PROXY, type: 'socks4' }, [400, 'invalid_format /proxy/type']],
    [{ enabled: true }, [422, 'required /proxy/type', 'required /proxy/address']],
    [{ ...PROXY, address: ' ' }, [422, 'required /proxy/address']],
    [{ ...PROXY, address: 'http://proxy.example:3128' }, [422, 'invalid_format /proxy/address']],
    [{ ...PROXY, address: 'proxy.example' }, [422, 'invalid_format /proxy/address']],
    [{ ...PROXY, enabled: false, address: 'proxy.example:0' }, [422, 'invalid_format /proxy/address']],
    [{ ...PROXY, username: 'a:b' }, [422, 'invalid_format /proxy/username']],
    [{ ...PROXY, username: 'я'.repeat(128) }, [422, 'too_long /proxy/username']],
    [{ ...PROXY, password: '' }, [422, 'too_short /proxy/password']],
    [{ ...PROXY, password: 'x'.repeat(256) }, [422, 'too_long /proxy/password']],
  ])('%j is refused', async (proxy, expected) => {
    const { status, body } = await create(proxy);
    const errors: { pointer: string; code: string }[] = body.errors ?? [];
    expect([status, ...errors.map(({ pointer, code }) => `${code} ${pointer}`)]).toEqual(expected);
  });
});
