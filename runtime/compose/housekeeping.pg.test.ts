import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { ORGANIZATION_DEFAULTS } from '../../actors/access/organization.ts';
import { createGroupReader } from '../../storage/alert-groups/alert-groups.ts';
import { dayOf, ensurePartitions } from '../../storage/postgres/partitions.ts';
import { PARTITIONED_TABLES, trimTimeline } from '../../storage/postgres/retention.ts';
import { firstStart, insertAlert, insertGroup } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { DAY, type Micros, parseInstant, SECOND } from '../clock.ts';
import { newPublicId, type PublicId } from '../public-id.ts';
import { masterKey } from '../secrets/keyring.ts';
import { housekeepingTasks } from './housekeeping.ts';

const database = useDatabase();
const at = (text: string): Micros => parseInstant(text) ?? Number.NaN;
/** Details are kept for 90 days, Stored Snapshots for 14, the Audit log for 365. */
const NOW = at('2026-06-15T12:00:00Z');
const { retention } = ORGANIZATION_DEFAULTS;

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'timeline_entries', 'snapshot_queue', 'notes', 'slots', 'actors');
});

/** Partitions as a service that ran since then has left them. */
async function ranSince(text: string, tables = PARTITIONED_TABLES): Promise<void> {
  for (let day = at(text); day < NOW; day += DAY) await ensurePartitions(database.sql(), day, tables);
}

async function partitions(table: string): Promise<string[]> {
  const rows = await database.sql()<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits
    where inhparent = ${table}::text::regclass order by 1`;
  return rows.map(({ name }) => name.slice(table.length + 1));
}

/** Every task once, as when the lead is taken. @returns what was logged */
async function housekeep(
  now: Micros = NOW,
  goesOn: () => boolean = () => true,
  poke: () => void = () => undefined,
) {
  const logged: [string, unknown][] = [];
  const tasks = housekeepingTasks({
    sql: database.sql(),
    clock: { now: () => now, after: () => ({ cancel: () => undefined }) },
    log: (event, fields) => logged.push([event, fields]),
    metrics: { pruned: () => undefined },
    poke,
  });
  for (const task of tasks) await task.run(goesOn);
  return logged;
}

async function addEntry(groupId: PublicId, when: string): Promise<void> {
  await database.sql()`
    insert into timeline_entries (at, place, id, group_id, kind, entry)
    values (${at(when)}, 1, ${`TE${when}`}, ${groupId}, 'lifecycle', '{}')`;
}

async function resolvedGroup(when: string): Promise<PublicId> {
  const id = await insertGroup(database.sql(), { routeId: 'RT', status: 'resolved' });
  await database.sql()`
    update alert_groups set resolved_at = ${at(when)}, firing_alert_count = 0 where id = ${id}`;
  return id;
}

async function stillFiring(): Promise<PublicId> {
  const id = await resolvedGroup('2026-01-25T00:00:00Z');
  await database.sql()`update alert_groups set firing_alert_count = 1 where id = ${id}`;
  return id;
}

describe('Stored Snapshots', () => {
  test('go by whole days, with their bodies', async () => {
    await ranSince('2026-05-25T00:00:00Z');
    await housekeep();
    for (const table of ['stored_snapshots', 'snapshot_bodies']) {
      expect((await partitions(table))[0]).toBe('20260601');
    }
    const body = await database.sql()`
      insert into snapshot_bodies (day, hash, body)
      values (${dayOf(NOW - retention.stored_snapshots_days * DAY)}, ${Buffer.from('h')}, ${Buffer.from('b')})`;
    expect(body.count).toBe(1);
  });

  test('of a day from which one still waits to be processed stay, and of all later days', async () => {
    await ranSince('2026-05-20T00:00:00Z');
    await database.sql()`
      insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes)
      values (1, 'SN1', 'NT1', ${at('2026-05-22T08:00:00Z')}, ${Buffer.from('h')}, 1)`;
    await housekeep();
    for (const table of ['stored_snapshots', 'snapshot_bodies']) {
      expect((await partitions(table))[0]).toBe('20260522');
    }
  });
});

describe('Timeline entries', () => {
  const byMonth = PARTITIONED_TABLES.filter(({ period }) => period === 'month');
  beforeEach(() => ranSince('2026-01-15T00:00:00Z', byMonth));

  test('go by whole months once all their groups are resolved for longer than details are kept', async () => {
    await addEntry(await resolvedGroup('2026-01-20T00:00:00Z'), '2026-01-19T00:00:00Z');
    const logged = await housekeep();
    expect((await partitions('timeline_entries'))[0]).toBe('202603');
    const [, fields] = logged.find(([event]) => event === 'partitions_maintained') ?? [];
    expect(fields).toMatchObject({
      dropped: expect.arrayContaining(['timeline_entries_202601', 'timeline_entries_202602']),
    });
  });

  test.each([
    ['open', () => insertGroup(database.sql(), { routeId: 'RT', status: 'snoozed' })],
    ['resolved lately', () => resolvedGroup('2026-06-01T00:00:00Z')],
    ['resolved long ago, with Alerts that still fire', stillFiring],
  ])('of a month that a group needs which is %s stay, and go where no group needs them', async (_, group) => {
    await addEntry(await resolvedGroup('2026-02-20T00:00:00Z'), '2026-02-19T00:00:00Z');
    const needs = await group();
    await addEntry(needs, '2026-01-19T00:00:00Z');
    await addEntry(await resolvedGroup('2026-02-20T00:00:00Z'), '2026-01-20T00:00:00Z');
    await addEntry('AG0000000000ZZ' as PublicId, '2026-01-21T00:00:00Z');
    const logged = await housekeep();
    expect((await partitions('timeline_entries')).slice(0, 2)).toEqual(['202601', '202603']);
    const left = await database.sql()`select group_id from timeline_entries`;
    expect(left.map((row) => row.group_id)).toEqual([needs]);
    expect(logged).toContainEqual(['short_lived_pruned', { table: 'timeline_entries', rows: 2 }]);
  });
});

test('Timeline entries of many groups go page by page, for as long as the lead lasts', async () => {
  const sql = database.sql();
  await ensurePartitions(sql, at('2026-01-20T00:00:00Z'), PARTITIONED_TABLES);
  await addEntry(await insertGroup(sql, { routeId: 'RT', status: 'firing' }), '2026-01-19T00:00:00Z');
  await sql`
    insert into timeline_entries (at, place, id, group_id, kind, entry)
    select ${at('2026-01-20T00:00:00Z')}, 1, 'TE' || n, 'AH' || n, 'lifecycle', '{}' from generate_series(1, 450) n`;
  let looks = 0;
  expect(await trimTimeline(sql, retention, NOW, () => ++looks <= 1)).toBeGreaterThan(0);
  expect(await trimTimeline(sql, retention, NOW, () => true)).toBeGreaterThan(200);
  expect((await sql`select from timeline_entries`).count).toBe(1);
});

test('Audit entries go by whole months', async () => {
  const sql = database.sql();
  await ensurePartitions(sql, at('2025-04-01T00:00:00Z'), PARTITIONED_TABLES);
  await housekeep();
  expect((await partitions('audit_log'))[0]).toBe('202506');
});

test('a part that fails is logged, and the others go on', async () => {
  const sql = database.sql();
  await ensurePartitions(sql, at('2025-01-01T00:00:00Z'), PARTITIONED_TABLES);
  await sql`alter table snapshot_queue rename to snapshot_queue_away`;
  const logged = await housekeep().finally(
    () => sql`alter table snapshot_queue_away rename to snapshot_queue`,
  );
  expect(logged.map(([event]) => event)).toContain('partition_maintenance_failed');
  expect(await partitions('audit_log')).not.toContain('202501');
});

test('what replicas told each other goes after minutes, and so do records of replicas after an hour', async () => {
  const sql = database.sql();
  const ago = (seconds: number) => NOW - seconds * SECOND;
  await sql`
    insert into replies (asked_by, ask_id, outcome, at)
    values ('a/1', 'old', '{}', ${ago(61)}), ('a/1', 'new', '{}', ${ago(59)})`;
  await sql`
    insert into announcements (sender, topic, body, at)
    values ('a/1', 'old', '{}', ${ago(301)}), ('a/1', 'new', '{}', ${ago(299)})`;
  await sql`
    insert into replicas (id, boot, version, revision, key_ids, is_leader, has_redis, started_at, refreshed_at)
    select 'a', boot, '1', '', '{}', false, false, 0, at
    from (values ('old', ${ago(3601)}::bigint), ('new', ${ago(3599)})) as record (boot, at)`;
  const logged = await housekeep();
  expect(await sql`select ask_id from replies`).toEqual([{ ask_id: 'new' }]);
  expect(await sql`select topic from announcements`).toEqual([{ topic: 'new' }]);
  expect(await sql`select boot from replicas`).toEqual([{ boot: 'new' }]);
  expect(logged).toEqual(
    expect.arrayContaining([
      ['short_lived_pruned', { table: 'replies', rows: 1 }],
      ['short_lived_pruned', { table: 'announcements', rows: 1 }],
      ['replicas_pruned', { replicas: ['a/old'] }],
    ]),
  );
});

test('a part that fails for another reason is named, and those behind it are done', async () => {
  const sql = database.sql();
  await sql`
    insert into replicas (id, boot, version, revision, key_ids, is_leader, has_redis, started_at, refreshed_at)
    values ('gone', '1', '1', '', '{}', false, false, 0, 0)`;
  await sql`alter table login_throttles rename to login_throttles_away`;
  const logged = await housekeep().finally(
    () => sql`alter table login_throttles_away rename to login_throttles`,
  );
  expect(logged).toContainEqual([
    'leader_task_failed',
    { task: 'access_pruning', error: expect.stringContaining('login_throttles') },
  ]);
  expect(logged).toContainEqual(['replicas_pruned', { replicas: ['gone/1'] }]);
});

describe('buttons of open messages', () => {
  const [active, older] = [masterKey(randomBytes(32)), masterKey(randomBytes(32))];

  async function poked(signedWith: string): Promise<{ readonly pokes: number; readonly told: number }> {
    const sql = database.sql();
    await firstStart(sql, active);
    const destination = newPublicId('DS');
    await sql`truncate deliveries`;
    await sql`
      insert into destinations (id, version, type, name, limiter, mentions, secrets_version, created_at)
      values (${destination}, 1, 'bridge', 'Ops', '{}', '{}', 1, ${NOW})`;
    await sql`
      insert into deliveries (
        destination_id, subject, target, route_id, urgent, is_open, state, possible_duplicate,
        thread_not_attached, updated_at, wanted, kept, signed_with
      )
      values (
        ${destination}, ${newPublicId('AG')}, 1, 'RT0000000000AA', false, true, 'delivered', false,
        false, ${NOW}, false, '{}', ${signedWith}
      )`;
    let pokes = 0;
    await housekeep(NOW, undefined, () => pokes++);
    const told = await sql`select from inbox where receiver_key = ${destination}`;
    return { pokes, told: told.count };
  }

  test('that an older key signed are signed anew at once, not when somebody looks by chance', async () => {
    expect(await poked(older.id)).toEqual({ pokes: 1, told: 1 });
  });

  test('of the active key disturb nobody', async () => {
    expect(await poked(active.id)).toEqual({ pokes: 0, told: 0 });
  });
});

test('a process that lost the lead begins no further step', async () => {
  await ranSince('2026-05-25T00:00:00Z');
  const before = await partitions('stored_snapshots');
  await housekeep(NOW, () => false);
  expect(await partitions('stored_snapshots')).toEqual(before);
});

describe('Alert Groups', () => {
  const ago = (days: number, seconds = 0) => NOW - days * DAY - seconds * SECOND;

  /** With an Alert, an entry of the Timeline, a Note, a Slot and the state of its actor. */
  async function group(resolvedAt: Micros | null): Promise<PublicId> {
    const sql = database.sql();
    const id = await insertGroup(sql, { routeId: 'RT', status: resolvedAt === null ? 'firing' : 'resolved' });
    await sql`
      update alert_groups set
        started_at = ${ago(900)}, resolved_at = ${resolvedAt}, firing_alert_count = ${resolvedAt === null ? 1 : 0}
      where id = ${id}`;
    await insertAlert(sql, {
      groupId: id,
      integrationId: 'NT1',
      fingerprint: id,
      state: resolvedAt === null ? 'firing' : 'resolved',
    });
    await addEntry(id, '2026-06-10T00:00:00Z');
    await sql`insert into notes (id, group_id, at, place, entry) values (${`NE${id}`}, ${id}, 1, 1, '{}')`;
    await sql`insert into slots (route_id, key_hash, group_id) values ('RT', ${id}, ${id})`;
    await sql`
      insert into actors (kind, key, shard, version, schema, snapshot, updated_at)
      values ('alert_group', ${id}, 0, 1, 1, '{}', 1)`;
    return id;
  }

  const readable = async (id: PublicId) => {
    const reader = createGroupReader(database.sql());
    const page = { groupId: id, after: null, limit: 50 };
    const found = await reader.read(id);
    return {
      removed: found?.detailsRemoved ?? null,
      alerts: (await reader.alerts({ ...page, state: null })).items.length,
      entries: (await reader.timeline({ ...page, kinds: [], descending: true })).items.length,
      notes: (await reader.notes(page)).items.length,
    };
  };

  test('lose their Alerts and all of the Timeline but Notes once their details are not kept', async () => {
    await ensurePartitions(database.sql(), NOW, PARTITIONED_TABLES);
    const [open, kept, past] = [await group(null), await group(ago(90)), await group(ago(90, 1))];
    const logged = await housekeep();
    expect(logged).toContainEqual(['alert_groups_purged', { details: 1, summaries: 0 }]);
    const whole = { removed: false, alerts: 1, entries: 2, notes: 1 };
    expect(await readable(open)).toEqual(whole);
    expect(await readable(kept)).toEqual(whole);
    expect(await readable(past)).toEqual({ removed: true, alerts: 0, entries: 1, notes: 1 });
    const rows = await database.sql()`select from group_alerts where group_id = ${past}`;
    expect(rows.count).toBe(0);
    expect((await housekeep()).map(([event]) => event)).not.toContain('alert_groups_purged');
  });

  test('are forgotten with their Notes, Slots and states once their summaries are not kept', async () => {
    await ensurePartitions(database.sql(), NOW, PARTITIONED_TABLES);
    const [kept, past] = [await group(ago(730)), await group(ago(730, 1))];
    expect(await housekeep()).toContainEqual(['alert_groups_purged', { details: 2, summaries: 1 }]);
    expect(await readable(kept)).toMatchObject({ removed: true, notes: 1 });
    expect(await readable(past)).toEqual({ removed: null, alerts: 0, entries: 0, notes: 0 });
    for (const left of [
      await database.sql()`select group_id as id from slots`,
      await database.sql()`select key as id from actors`,
      await database.sql()`select group_id as id from notes`,
    ]) {
      expect(left.map(({ id }) => id)).toEqual([kept]);
    }
  });

  test('are counted table by table in one line a run, which names the next full hour', async () => {
    await ensurePartitions(database.sql(), NOW, PARTITIONED_TABLES);
    await group(ago(730, 1));
    const lines = (await housekeep(NOW + 1)).filter(([event]) => event === 'retention_finished');
    expect(lines.map(([, fields]) => fields)).toEqual([
      {
        reason: 'schedule',
        removed: expect.objectContaining({ alert_group_details: 1, alert_groups: 1 }),
        complete: true,
        partitions_dropped: [],
        duration_ms: 0,
        next_at: '2026-06-15T13:00:00Z',
      },
    ]);
    const nothing = (await housekeep(NOW + 1)).find(([event]) => event === 'retention_finished');
    expect(nothing?.[1]).toMatchObject({ removed: {}, complete: true });
  });

  test('are looked at again within a minute when a period is changed', async () => {
    const sql = database.sql();
    await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
    const id = await group(ago(30));
    const task = housekeepingTasks({
      sql,
      clock: { now: () => NOW, after: () => ({ cancel: () => undefined }) },
      log: () => undefined,
      metrics: { pruned: () => undefined },
      poke: () => undefined,
    }).find(({ name }) => name === 'retention_changes');
    await task?.run(() => true);
    await task?.run(() => true);
    expect(await readable(id)).toMatchObject({ removed: false, alerts: 1 });
    await sql`update organization set settings = jsonb_set(settings, '{retention,alert_details_days}', '29')`;
    await task?.run(() => true);
    expect(await readable(id)).toMatchObject({ removed: true, alerts: 0 });
    expect(task?.every).toBe(60 * SECOND);
  });

  test('whose Alerts still fire keep them, however long ago a person resolved them', async () => {
    await ensurePartitions(database.sql(), NOW, PARTITIONED_TABLES);
    const id = await group(ago(100));
    await database.sql()`update alert_groups set firing_alert_count = 1 where id = ${id}`;
    await housekeep();
    expect(await readable(id)).toMatchObject({ removed: false, alerts: 1 });
  });

  test('go in batches, for as long as the lead lasts', async () => {
    await ensurePartitions(database.sql(), NOW, PARTITIONED_TABLES);
    await database.sql()`
      insert into alert_groups (
        id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
        common_annotations, integration_ids, severity_level, started_at, resolved_at, last_changed_at, resolved_by,
        reopen_count, firing_alert_count, resolved_alert_count, unclaimed, delivery_problem, in_grace
      )
      select
        'AG' || n, 1000000 + n, 'Group', 'resolved', 'RT', 'RT', n::text, '{}', '{}', '{}', '{}', 'info', 1, 2, 2,
        'system', 0, 0, 1, false, false, false
      from generate_series(1, 2500) as n`;
    expect(await housekeep()).toContainEqual(['alert_groups_purged', { details: 2500, summaries: 2500 }]);
  });
});
