import { randomBytes } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { BEAT_EVERY } from '../../actors/system/outgoing-heartbeat.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { firstStart, NOW } from '../../test/configuration.ts';
import { useDatabase } from '../../test/postgres.ts';
import { createHeartbeatStore, readHeartbeatStatus } from './signs-of-life.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const URL_TEXT = 'https://beats.example.org/ping';

async function setUrl(): Promise<void> {
  const sql = database.sql();
  const [row] = await sql`select id from organization`;
  const sealed = createKeyring([key], key.id)
    .sealer(key.id)
    .seal('organization.heartbeat_url', row?.id, URL_TEXT);
  await sql`update organization set heartbeat_url = ${sealed}, heartbeat_url_at = ${NOW}`;
}

beforeEach(async () => {
  await firstStart(database.sql(), key);
  await database.sql()`update outgoing_heartbeat set claimed_at = null, at = null, ok = null, error = null`;
});

test('without a URL there is nothing to do', async () => {
  expect(await createHeartbeatStore(database.sql()).claim(NOW)).toBeNull();
  expect(await readHeartbeatStatus(database.sql())).toEqual({
    ...{ isConfigured: false, lastAttemptAt: null, lastOk: null, lastError: null },
  });
});

test('of two that lead at once one beats, and the next time is a minute later', async () => {
  await setUrl();
  const stores = [createHeartbeatStore(database.sql()), createHeartbeatStore(database.sql())];
  const claims = (now: number) => Promise.all(stores.map((store) => store.claim(now)));
  const first = (await claims(NOW)).filter((one) => one !== null);
  expect(first).toMatchObject([{ claimedAt: NOW, wasOk: null, proxyPassword: null }]);
  expect((await claims(NOW + BEAT_EVERY - 1)).filter((one) => one !== null)).toEqual([]);
  expect((await claims(NOW + BEAT_EVERY)).filter((one) => one !== null)).toHaveLength(1);
});

test('what came of an attempt is kept, unless another began since', async () => {
  await setUrl();
  const store = createHeartbeatStore(database.sql());
  const first = await store.claim(NOW);
  if (!first) throw new Error('there is a URL');
  expect(await store.settle(first, { at: NOW, ok: false, error: 'answered 503' })).toBe(true);
  expect(await readHeartbeatStatus(database.sql())).toEqual({
    ...{ isConfigured: true, lastAttemptAt: NOW, lastOk: false, lastError: 'answered 503' },
  });
  expect(await store.claim(NOW + BEAT_EVERY)).toMatchObject({ wasOk: false });
  expect(await store.settle(first, { at: NOW, ok: true, error: null })).toBe(false);
});
