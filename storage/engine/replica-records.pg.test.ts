import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Member } from '../../runtime/placement/coordination.ts';
import { masterKey } from '../../runtime/secrets/keyring.ts';
import { NOW, stoppedClock } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { ensureKeyring } from '../keys/keyring.ts';
import { createEpochStore } from './placement.ts';
import {
  createReplicaRecordStore,
  createReplicaRecords,
  liveReplicas,
  pruneReplicaRecords,
} from './replica-records.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
const A: Member = { id: 'a', boot: '1' };
const B: Member = { id: 'b', boot: '1' };
const what = {
  version: '1.2.3',
  revision: 'abc',
  keyIds: [key.id],
  isLeader: false,
  hasRedis: true,
  startedAt: NOW - HOUR,
};
const write = (me: Member, at: Micros, changes: object = {}) =>
  createReplicaRecordStore(database.sql()).write({ ...what, ...me, ...changes }, at);

beforeEach(async () => {
  const sql = database.sql();
  await empty(sql, 'replicas', 'keyring');
  await sql`update shards set owner = null, taken_at = null`;
  await sql.begin((tx) => ensureKeyring(tx, [key]));
});

describe('a record', () => {
  test('is written, refreshed and removed, and each write tells the active key', async () => {
    const sql = database.sql();
    expect(await write(A, NOW - SECOND)).toBe(key.id);
    await sql`update keyring set active_key_id = 'k-other'`;
    expect(await write(A, NOW, { isLeader: true, keyIds: ['k-1', 'k-2'], hasRedis: false })).toBe('k-other');
    expect(await liveReplicas(sql, NOW)).toEqual([
      { ...what, ...A, isLeader: true, keyIds: ['k-1', 'k-2'], hasRedis: false, refreshedAt: NOW },
    ]);
    await createReplicaRecordStore(sql).remove(A);
    expect(await liveReplicas(sql, NOW)).toEqual([]);
  });

  test('of another run under the same id is another one', async () => {
    await write(A, NOW);
    await write({ id: 'a', boot: '2' }, NOW, { startedAt: NOW });
    expect((await liveReplicas(database.sql(), NOW)).map(({ boot }) => boot)).toEqual(['1', '2']);
  });

  test('is removed with those of earlier runs under its id, and of no other run', async () => {
    const sql = database.sql();
    await write(A, NOW);
    await write(B, NOW);
    await write({ id: 'a', boot: '2' }, NOW, { startedAt: NOW - MINUTE });
    await write({ id: 'a', boot: '3' }, NOW, { startedAt: NOW });
    await createReplicaRecordStore(sql).remove({ id: 'a', boot: '2' });
    expect((await liveReplicas(sql, NOW)).map(({ id, boot }) => id + boot)).toEqual(['a3', 'b1']);
  });

  test('counts for 2 min, for placement for 90 s, and goes after an hour', async () => {
    const sql = database.sql();
    const records = createReplicaRecords(sql);
    await write(A, NOW);
    await write(B, NOW - 10 * SECOND);
    expect(await records.live(NOW + 80 * SECOND)).toEqual([A, B]);
    expect(await records.live(NOW + 90 * SECOND)).toEqual([A]);
    expect(await liveReplicas(sql, NOW + 2 * MINUTE)).toMatchObject([{ id: 'a' }]);
    expect(await pruneReplicaRecords(sql, NOW + HOUR)).toEqual(['b/1']);
    expect(await pruneReplicaRecords(sql, NOW + HOUR)).toEqual([]);
  });
});

describe('members that say that they lead', () => {
  test('count for 90 s, and no longer once they say otherwise', async () => {
    const { leaders } = createReplicaRecords(database.sql());
    const store = createReplicaRecordStore(database.sql());
    await store.write({ ...A, ...what, isLeader: true }, NOW);
    await store.write({ ...B, ...what, isLeader: false }, NOW);
    expect(await leaders(NOW + 90 * SECOND)).toEqual([{ ...A, refreshedAt: NOW }]);
    expect(await leaders(NOW + 90 * SECOND + 1)).toEqual([]);
    await store.write({ ...A, ...what, isLeader: false }, NOW + SECOND);
    expect(await leaders(NOW + SECOND)).toEqual([]);
  });
});

describe('orphaned shards', () => {
  const orphans = (now: Micros) => createReplicaRecords(database.sql()).orphans(now);
  const own = (shards: readonly number[], owner: string) =>
    createEpochStore(database.sql(), stoppedClock).raise(shards, owner);

  test('are all of those that nobody ever owned', async () => {
    await write(A, NOW);
    expect(await orphans(NOW)).toHaveLength(256);
  });

  test('are those whose owner is silent, stopped, or an earlier run', async () => {
    const [mine, silent, stopped, earlier] = [0, 64, 128, 192].map((from) =>
      Array.from({ length: 64 }, (_, index) => from + index),
    ) as [number[], number[], number[], number[]];
    await own(mine, 'a/1');
    await own(silent, 'b/1');
    await own(stopped, 'c/1');
    await own(earlier, 'a/0');
    await write(A, NOW);
    await write(B, NOW - 10 * SECOND);
    expect(await orphans(NOW + 80 * SECOND)).toEqual([...stopped, ...earlier]);
    expect(await orphans(NOW + 81 * SECOND)).toEqual([...silent, ...stopped, ...earlier]);
  });
});
