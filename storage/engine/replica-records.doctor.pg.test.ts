/** What only the doctor reads: it changes nothing and is right about what is there. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { DAY, type Micros } from '../../runtime/clock.ts';
import { createKeyring, masterKey } from '../../runtime/secrets/keyring.ts';
import { firstStart, NOW } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { readWebhookDestinations } from '../configuration/destination-rows.ts';
import { ensureKeyring, readKeyUse } from '../keys/keyring.ts';
import { ensurePartitions, missingPartitions } from '../postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../postgres/retention.ts';
import { inSnapshot } from '../postgres/transaction.ts';
import { readBacklog } from './backlog.ts';
import { readReplicaView } from './replica-records.ts';

const database = useDatabase();
const keys = [masterKey(randomBytes(32)), masterKey(randomBytes(32))] as const;
const [active, older] = keys;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'keyring', 'replicas', 'alive_mark', 'snapshot_queue', 'actors');
});

async function insertDestination(id: string, keyId: string, isDeleted = false): Promise<void> {
  const sealed = createKeyring(keys, keyId).sealer(keyId).seal('destination.signing_secret', id, 'whsec_x');
  await database.sql()`
    insert into destinations (
      id, version, name, type, mode, events, mentions, limiter, secrets_version, created_at, deleted_at, signing_secret
    ) values (
      ${id}, 1, ${`name of ${id}`}, 'webhook', 'events', '{"url": "https://a.example", "headers": []}', '[]', '{}', 1,
      ${NOW}, ${isDeleted ? NOW : null}, ${sealed}
    )`;
}

describe('which keys are used', () => {
  const read = () => inSnapshot(database.sql(), readKeyUse);

  test('nothing is on a new database', async () => {
    expect(await read()).toEqual({ activeKeyId: null, sealedWith: new Map(), signedWith: new Map() });
  });

  test('the canary and every sealed value count', async () => {
    await database.sql().begin((tx) => ensureKeyring(tx, keys));
    await insertDestination('DS1', active.id);
    await insertDestination('DS2', older.id);
    expect(await read()).toEqual({
      activeKeyId: active.id,
      sealedWith: new Map([
        [active.id, 2],
        [older.id, 1],
      ]),
      signedWith: new Map(),
    });
  });
});

test('Destinations are read with their Secrets sealed, deleted ones are not', async () => {
  await insertDestination('DS1', active.id);
  await insertDestination('DS2', active.id, true);
  await database.sql()`
    insert into destination_secrets (destination_id, name, value, updated_at)
    values ('DS1', 'token', ${createKeyring(keys, active.id).sealer(active.id).seal('destination.secret', 'DS1/token', 'x')}, ${NOW})`;
  const [found, ...others] = await inSnapshot(database.sql(), readWebhookDestinations);
  expect(others).toEqual([]);
  expect(found).toMatchObject({ id: 'DS1', health: { state: 'healthy' }, settings: { id: 'DS1' } });
  expect([...(found?.settings.secrets.keys() ?? [])]).toEqual(['token']);
});

test('a webhook in template mode comes with the requests that it sends, and no others', async () => {
  await insertDestination('DS1', active.id);
  const request = { request: 'POST https://h/', extract: [] };
  const template = { create: request, update: request, open_thread: null, reply_in_thread: null };
  await database.sql()`
    update destinations set mode = 'template', template = ${JSON.stringify(template)}::text::jsonb where id = 'DS1'`;
  const [found] = await inSnapshot(database.sql(), readWebhookDestinations);
  expect(found?.settings).toMatchObject({ id: 'DS1', template });
  expect(found?.settings).not.toHaveProperty('events');
});

describe('what waits', () => {
  const read = (now: Micros) => inSnapshot(database.sql(), (tx) => readBacklog(tx, now));

  test('nothing does at first', async () => {
    const none = { count: 0, since: null };
    expect(await read(NOW)).toEqual({ snapshots: none, messages: none, wakeUps: none });
  });

  test('rows are counted, and the oldest says since when', async () => {
    const sql = database.sql();
    await sql`
      insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes)
      select n, 'SS' || n, 'IN1', ${NOW}::bigint + n, '', 1 from generate_series(1, 3) as n`;
    await sql`
      insert into inbox (shard, receiver_kind, receiver_key, message, created_at)
      select 0, 'feed', 'k', '{}', ${NOW}::bigint + n from generate_series(1, 2) as n`;
    await sql`
      insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
      select 'feed', 'k' || n, 0, 1, 1, '{}', ${NOW}::bigint + n, 1 from generate_series(1, 9) as n`;
    expect(await read(NOW + 4)).toEqual({
      snapshots: { count: 3, since: NOW + 1 },
      messages: { count: 2, since: NOW + 1 },
      wakeUps: { count: 4, since: NOW + 1 },
    });
  });
});

test('records, owners of shards and the sign of life are read as they are', async () => {
  const sql = database.sql();
  await sql`
    insert into replicas (id, boot, version, revision, key_ids, is_leader, has_redis, started_at, refreshed_at)
    values ('b', 'b1', '0.1.0', '', ${[active.id]}::text[], false, true, 1, 2),
      ('a', 'a1', '0.1.0', '', '{}', false, false, 1, 2), ('a', 'a2', '0.2.0', '', '{}', true, false, 3, 4)`;
  await sql`insert into alive_mark (at, replica) values (7, 'a/a2')`;
  await sql`update shards set owner = 'a/a2', taken_at = 5 where shard = 9`;
  const view = await inSnapshot(sql, readReplicaView);
  expect(view.records.map(({ id, boot }) => `${id}/${boot}`)).toEqual(['a/a2', 'a/a1', 'b/b1']);
  expect(view.records[0]).toMatchObject({
    version: '0.2.0',
    isLeader: true,
    hasRedis: false,
    refreshedAt: 4,
  });
  expect(view.records[2]?.keyIds).toEqual([active.id]);
  expect(view.shards).toHaveLength(256);
  expect(view.shards[9]).toEqual({ shard: 9, owner: 'a/a2', takenAt: 5 });
  expect(view.aliveMarkedAt).toBe(7);
});

test('missing partitions are those that would be made, the soonest first', async () => {
  const sql = database.sql();
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
  expect(await missingPartitions(sql, NOW, PARTITIONED_TABLES)).toEqual([]);
  const tomorrow = await missingPartitions(sql, NOW + DAY, PARTITIONED_TABLES);
  expect(tomorrow.length).toBeGreaterThanOrEqual(2);
  expect(tomorrow.map(({ from }) => from)).toEqual(tomorrow.map(({ from }) => from).sort((a, b) => a - b));
  expect((await ensurePartitions(sql, NOW + DAY, PARTITIONED_TABLES)).sort()).toEqual(
    tomorrow.map(({ name }) => name).sort(),
  );
});
