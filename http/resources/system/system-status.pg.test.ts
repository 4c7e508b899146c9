import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { DAY, MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Member } from '../../../runtime/placement/coordination.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { masterKey } from '../../../runtime/secrets/keyring.ts';
import { createEpochStore } from '../../../storage/engine/placement.ts';
import { createReplicaRecordStore } from '../../../storage/engine/replica-records.ts';
import { markAlive } from '../../../storage/engine/signs-of-life.ts';
import { createSystemStatusReader, readGauges } from '../../../storage/engine/system-status.ts';
import { ensureKeyring } from '../../../storage/keys/keyring.ts';
import {
  firstStart,
  insertDestination,
  insertGroup,
  NOW,
  readDirectory,
  stoppedClock,
} from '../../../test/configuration.ts';
import { empty } from '../../../test/emptied.ts';
import { type OperationClient, operationClient } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { makeSnapshotPartitions } from '../../../test/snapshot-partitions.ts';
import { systemStatusOperations } from './system-status.ts';

const database = useDatabase();
const key = masterKey(randomBytes(32));
let api: OperationClient;
let redisUp: boolean | null;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(
    sql,
    'integration_states',
    'replicas',
    'keyring',
    'alive_mark',
    'downtimes',
    'snapshot_queue',
    'webhook_events',
  );
  await sql`update shards set owner = null, taken_at = null`;
  await sql.begin((tx) => ensureKeyring(tx, [key]));
  redisUp = true;
  const directory = await readDirectory(sql);
  const operations = systemStatusOperations({
    reader: createSystemStatusReader(sql),
    version: { version: '1.2.3', commit: 'abc' },
    coordination: { mode: 'redis', redisUp: () => redisUp },
  });
  api = operationClient({ operations, directory, clock: stoppedClock });
});

const NOTHING = {
  version: '1.2.3',
  commit: 'abc',
  replicas: [],
  coordination: {
    mode: 'redis',
    redis_up: true,
    read_at: '2026-09-21T14:13:20Z',
    replicas: [],
    shards: {
      total: 256,
      without_owner: 256,
      taken_last_hour: 0,
      owners: Array.from({ length: 256 }, () => null),
      moved: [],
    },
    queues: { snapshots: { waiting: 0, oldest_at: null }, inbox: { waiting: 0, oldest_at: null } },
  },
  recovery: { active: false, period_from: null, period_to: null, until: null },
  delivery_queues: [],
  broken_destinations: [],
  failing_destinations: [],
  integrations_attention: [],
  template_errors: [],
  active_storms: [],
  outgoing_heartbeat: { configured: false, last_attempt_at: null, last_ok: null, last_error: null },
};

async function status() {
  const answer = await api.get('/system-status');
  expect(answer.status).toBe(200);
  return answer.body;
}

async function replica(
  me: Member,
  changes: { isLeader?: boolean; refreshedAt?: Micros; startedAt?: Micros },
) {
  const { refreshedAt = NOW, startedAt = NOW - MINUTE, isLeader = false } = changes;
  const record = { ...me, version: '1.2.3', revision: '', keyIds: [key.id], hasRedis: true };
  await createReplicaRecordStore(database.sql()).write({ ...record, isLeader, startedAt }, refreshedAt);
}

const own = (owner: string, from: number, until: number, now: Micros = NOW) =>
  createEpochStore(database.sql(), { ...stoppedClock, now: () => now }).raise(
    Array.from({ length: until - from }, (_, index) => from + index),
    owner,
  );

describe('the System status', () => {
  test('of a service without anything to tell', async () => {
    expect(await status()).toEqual(NOTHING);
    expect((await api.as('responder').get('/system-status')).status).toBe(403);
  });

  test('names each Destination whose every call fails, since when and with what error, the oldest first', async () => {
    const sql = database.sql();
    const [older, newer, broken] = [
      await insertDestination(sql, 'older'),
      await insertDestination(sql, 'newer'),
      await insertDestination(sql, 'broken'),
    ];
    await insertEvents(older, 2, 0);
    const fails = (id: string, since: Micros) =>
      sql`update destinations set failing_since = ${since}, failing_error = 'answered 503' where id = ${id}`;
    await fails(newer, NOW - MINUTE);
    await fails(older, NOW - 8 * MINUTE);
    await fails(broken, NOW - 9 * MINUTE);
    await sql`update destinations set broken_since = ${NOW}, broken_reason = 'x' where id = ${broken}`;
    const failing = { error: 'answered 503' };
    expect((await status()).failing_destinations).toEqual([
      { ...failing, destination: { id: older, name: 'older' }, since: '2026-09-21T14:05:20Z', waiting: 2 },
      { ...failing, destination: { id: newer, name: 'newer' }, since: '2026-09-21T14:12:20Z', waiting: 0 },
    ]);
  });

  test('shows live replicas, the Leader first, with the shards they own', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id, boot: '1' })) as [Member, Member, Member];
    await replica(a, { refreshedAt: NOW - 119 * SECOND });
    await replica(b, { isLeader: true });
    await replica(c, { refreshedAt: NOW - 121 * SECOND });
    await markAlive(database.sql(), b, NOW);
    await own('a/1', 0, 100, NOW - 61 * MINUTE);
    await own('b/1', 100, 250);
    await own('c/1', 250, 256);
    const body = await status();
    expect(body.replicas).toEqual([
      { id: 'b', leader: true, key_ids: [key.id], refreshed_at: '2026-09-21T14:13:20Z' },
      { id: 'a', leader: false, key_ids: [key.id], refreshed_at: '2026-09-21T14:11:21Z' },
    ]);
    expect(body.coordination.replicas).toEqual([
      { id: 'b', version: '1.2.3', started_at: '2026-09-21T14:12:20Z', shards: 150 },
      { id: 'a', version: '1.2.3', started_at: '2026-09-21T14:12:20Z', shards: 100 },
    ]);
    const from = (first: number, until: number) =>
      Array.from({ length: until - first }, (_, index) => first + index);
    expect(body.coordination.shards).toEqual({
      total: 256,
      without_owner: 6,
      taken_last_hour: 156,
      owners: from(0, 256).map((shard) => (shard < 100 ? 1 : shard < 250 ? 0 : null)),
      moved: from(100, 256),
    });
  });

  test('knows a Leader that died by the sign of life of the next one', async () => {
    await replica({ id: 'a', boot: '1' }, { isLeader: true, refreshedAt: NOW - 20 * SECOND });
    await replica({ id: 'b', boot: '1' }, { isLeader: true });
    await markAlive(database.sql(), { id: 'b', boot: '1' }, NOW);
    expect((await status()).replicas).toMatchObject([
      { id: 'b', leader: true },
      { id: 'a', leader: false },
    ]);
  });

  test('shows a replica that came back once, and what its earlier run owned as without owner', async () => {
    await replica({ id: 'a', boot: '1' }, { refreshedAt: NOW - 20 * SECOND });
    await replica({ id: 'a', boot: '2' }, { startedAt: NOW });
    await own('a/1', 0, 56);
    await own('a/2', 56, 256);
    const { replicas, coordination } = await status();
    expect(replicas).toHaveLength(1);
    expect(coordination.replicas).toMatchObject([{ shards: 200 }]);
    expect(coordination.shards.without_owner).toBe(56);
  });

  test('says whether Redis is reached', async () => {
    redisUp = false;
    expect((await status()).coordination).toMatchObject({ mode: 'redis', redis_up: false });
  });

  test('shows Integrations that deserve attention, the oldest first', async () => {
    const sql = database.sql();
    const integration = async (name: string, signalAt: number, state: readonly (number | null)[]) => {
      const id = newPublicId('NT');
      await sql`
        insert into integrations (
          id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
          heartbeat_timeout_seconds, last_signal_at, created_at
        )
        values (${id}, 1, false, ${name}, '', '{}', 45, true, 300, ${signalAt}, ${NOW})`;
      const [lostSince = null, truncatedSince = null] = state;
      await sql`insert into integration_states values (${id}, 1, ${lostSince}, ${truncatedSince}, 1)`;
      return { id, name };
    };
    await makeSnapshotPartitions(sql, NOW - 2 * DAY, NOW);
    let seq = 0;
    const storeFailed = (id: string, receivedAt: Micros) =>
      sql`
        insert into stored_snapshots (seq, id, integration_id, received_at, body_hash, size_bytes, processed_at, processing_error)
        values (${++seq}, ${newPublicId('SS')}, ${id}, ${receivedAt}, '', 1, ${receivedAt}, 'not JSON')`;
    const lost = await integration('lost', NOW, [NOW, NOW - MINUTE]);
    await integration('live again', NOW + SECOND, [NOW]);
    const cut = await integration('cut', NOW, [null, NOW - 2 * MINUTE]);
    const broken = await integration('broken', NOW, []);
    await storeFailed(broken.id, NOW - DAY + SECOND);
    await storeFailed(broken.id, NOW - DAY);
    const mended = await integration('mended', NOW, []);
    await storeFailed(mended.id, NOW - DAY);
    await sql`
      insert into integration_counters (integration_id, snapshot_count, last_snapshot_at)
      values (${broken.id}, 3, ${NOW}), (${mended.id}, 2, ${NOW})`;
    expect((await status()).integrations_attention).toEqual([
      { integration: broken, issue: 'snapshot_failed', since: '2026-09-20T14:13:21Z' },
      { integration: cut, issue: 'snapshot_truncated', since: '2026-09-21T14:11:20Z' },
      { integration: lost, issue: 'snapshot_truncated', since: '2026-09-21T14:12:20Z' },
      { integration: lost, issue: 'heartbeat_lost', since: '2026-09-21T14:13:20Z' },
    ]);
    expect((await readGauges(sql)).integrations.map(({ isLost }) => isLost).sort()).toEqual([
      false,
      false,
      false,
      false,
      true,
    ]);
  });

  test('shows the last downtime, and whether it is recovered from', async () => {
    const sql = database.sql();
    const me = { id: 'a', boot: '1' };
    await markAlive(sql, me, NOW - 20 * MINUTE);
    await markAlive(sql, me, NOW - 10 * MINUTE);
    const recovery = {
      active: true,
      period_from: '2026-09-21T13:53:20Z',
      period_to: '2026-09-21T14:03:20Z',
      until: '2026-09-21T14:18:20Z',
    };
    expect((await status()).recovery).toEqual(recovery);
    await sql`update downtimes set recovers_until = ${NOW}`;
    expect((await status()).recovery).toEqual({
      ...recovery,
      active: false,
      until: '2026-09-21T14:13:20Z',
    });
  });

  test('counts what waits, with the age of the oldest', async () => {
    const sql = database.sql();
    await sql`
      insert into inbox (shard, receiver_kind, receiver_key, message, created_at)
      values (1, 'feed', 'x', '{}', ${NOW - SECOND}), (2, 'feed', 'y', '{}', ${NOW - 2 * SECOND})`;
    await insertQueued();
    expect((await status()).coordination.queues).toEqual({
      snapshots: { waiting: 1, oldest_at: '2026-09-21T14:13:17Z' },
      inbox: { waiting: 2, oldest_at: '2026-09-21T14:13:18Z' },
    });
  });

  test('names Destinations with a queue, Broken ones and failing templates', async () => {
    const sql = database.sql();
    const one = await insertDestination(sql, 'one');
    const two = await insertDestination(sql, 'two');
    const gone = await insertDestination(sql, 'gone');
    await insertEvents(one, 2, 5);
    await insertEvents(two, 3, 0);
    await insertEvents(gone, 9, 0);
    await sql`update destinations set deleted_at = ${NOW}, broken_since = ${NOW} where id = ${gone}`;
    await sql`
      update destinations set broken_since = ${NOW - MINUTE}, broken_reason = '403: no' where id = ${one}`;
    await sql`update destinations set broken_since = ${NOW - 2 * MINUTE} where id = ${two}`;
    await sql`
      update destinations set template_error = 'line 1, column 2: no', template_error_since = ${NOW - SECOND}
      where id = ${two}`;
    const [route] = await sql<{ id: string; name: string }[]>`select id, name from routes where is_default`;
    await sql`
      insert into route_template_errors (route_id, template, since, error)
      values (${route?.id ?? ''}, 'line', ${NOW - 2 * SECOND}, 'line 3, column 4: no')`;
    expect(await status()).toMatchObject({
      delivery_queues: [
        { destination: { id: two, name: 'two' }, queued: 3 },
        { destination: { id: one, name: 'one' }, queued: 2 },
      ],
      broken_destinations: [
        { destination: { id: two, name: 'two' }, since: '2026-09-21T14:11:20Z', reason: '' },
        { destination: { id: one, name: 'one' }, since: '2026-09-21T14:12:20Z', reason: '403: no' },
      ],
      template_errors: [
        {
          subject_kind: 'route',
          subject: { id: route?.id, name: route?.name },
          template: 'line',
          since: '2026-09-21T14:13:18Z',
          error: 'line 3, column 4: no',
        },
        {
          subject_kind: 'destination',
          subject: { id: two, name: 'two' },
          template: 'webhook_request',
          since: '2026-09-21T14:13:19Z',
          error: 'line 1, column 2: no',
        },
      ],
    });
    expect((await readGauges(sql)).destinations).toEqual(
      [
        { id: one, queued: 2, isBroken: true },
        { id: two, queued: 3, isBroken: true },
      ].sort((x, y) => (x.id < y.id ? -1 : 1)),
    );
  });
});

describe('notices', () => {
  const notices = async (of: OperationClient) => (await of.get('/system-notices')).body.items;

  test('nobody is told anything while all is well', async () => {
    await markAlive(database.sql(), { id: 'a', boot: '1' }, NOW);
    expect(await notices(api)).toEqual([]);
  });

  test('everybody is told of a recovery, Admins of a service that nobody leads', async () => {
    const sql = database.sql();
    const me = { id: 'a', boot: '1' };
    await markAlive(sql, me, NOW - 20 * MINUTE);
    await markAlive(sql, me, NOW - 5 * MINUTE);
    const recovering = {
      kind: 'recovering_after_downtime',
      audience: 'all',
      since: '2026-09-21T14:08:20Z',
      until: '2026-09-21T14:23:20Z',
    };
    expect(await notices(api.as('viewer'))).toEqual([recovering]);
    expect(await notices(api)).toEqual([
      recovering,
      { kind: 'no_replica_leading', audience: 'admins', since: '2026-09-21T14:08:20Z', until: null },
    ]);
  });
});

test('gauges count open groups by Route and status', async () => {
  const sql = database.sql();
  for (const status of ['firing', 'firing', 'acknowledged', 'resolved'] as const) {
    await insertGroup(sql, { routeId: 'RT1', status });
  }
  await insertGroup(sql, { routeId: 'RT2', status: 'snoozed' });
  await insertQueued();
  const { groups, snapshotsWaiting } = await readGauges(sql);
  expect(
    [...groups].sort((one, other) =>
      `${one.route}${one.status}`.localeCompare(`${other.route}${other.status}`),
    ),
  ).toEqual([
    { route: 'RT1', status: 'acknowledged', count: 1 },
    { route: 'RT1', status: 'firing', count: 2 },
    { route: 'RT2', status: 'snoozed', count: 1 },
  ]);
  expect(snapshotsWaiting).toBe(1);
});

async function insertQueued() {
  await database.sql()`
    insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes)
    values (1, 'SS1', 'NT1', ${NOW - 3 * SECOND}, ${Buffer.from('h')}, 1)`;
}

async function insertEvents(destination: string, waiting: number, delivered: number) {
  await database.sql()`
    insert into webhook_events (
      id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, attempts, exact, updated_at,
      finished_at
    )
    select
      ${destination} || '/' || n, ${destination}, 'AG1', n, 'created', false, ${NOW}, '', state, 0, false, ${NOW},
      case when state = 'delivered' then ${NOW}::bigint end
    from generate_series(1, ${waiting + delivered}::int) as n,
      lateral (select case when n <= ${waiting}::int then 'waiting' else 'delivered' end as state) as s`;
}
