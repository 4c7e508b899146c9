import { beforeEach, describe, expect, test } from 'vitest';
import type { StoredGroup } from '../../actors/alert-group/reading/readers.ts';
import { DAY, MINUTE } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { empty } from '../../test/emptied.ts';
import { useDatabase } from '../../test/postgres.ts';
import { ensurePartitions } from '../postgres/partitions.ts';
import { PARTITIONED_TABLES } from '../postgres/retention.ts';
import { createGroupReader } from './alert-groups.ts';
import { createContextReader, nearbyStatement, pastStatement } from './context.ts';
import type { Fragment } from './filters.ts';

const database = useDatabase();
const NOW = 1_790_000_000_000_000;
const ROUTE = 'RT000000000001';
const HERE = { namespace: 'shop', node: 'n-1', cluster: 'eu' };

interface Row {
  readonly number: number;
  readonly labels?: object;
  /** Minutes before {@link NOW}. */
  readonly ago?: number;
  readonly key?: string;
  readonly route?: string;
  /** Minutes until it was resolved; null while open. */
  readonly lasted?: number | null;
  /** Minutes until somebody acknowledged it. */
  readonly acknowledged?: number;
}

const idOf = (number: number) => `AG${String(number).padStart(12, '0')}` as PublicId;

async function insert(row: Row): Promise<void> {
  const { number, route = ROUTE, lasted = null, acknowledged } = row;
  const startedAt = NOW - (row.ago ?? 0) * MINUTE;
  const resolvedAt = lasted === null ? null : startedAt + lasted * MINUTE;
  await database.sql()`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, started_at, resolved_at, last_changed_at, resolved_by,
      reopen_count, firing_alert_count, resolved_alert_count, unclaimed, delivery_problem, in_grace,
      first_acknowledged_at
    ) values (
      ${idOf(number)}, ${number}, ${`Group ${number}`}, ${resolvedAt === null ? 'firing' : 'resolved'}, ${route},
      ${route}, ${row.key ?? String(number)}, '{}', ${JSON.stringify(row.labels ?? {})}::text::jsonb, '{}', '{}',
      'warning', ${startedAt}, ${resolvedAt}, ${startedAt}, ${resolvedAt === null ? null : 'system'}, 0, 1, 0, false,
      false, false, ${acknowledged === undefined ? null : startedAt + acknowledged * MINUTE}
    )`;
}

async function read(number: number): Promise<StoredGroup> {
  const group = await createGroupReader(database.sql()).read(idOf(number));
  if (!group) throw new Error(`no Alert Group ${number}`);
  return group;
}

const nearby = async (number: number) => createContextReader(database.sql()).nearby(await read(number), NOW);
const past = async (number: number) => createContextReader(database.sql()).past(await read(number));

async function planOf(statement: Fragment): Promise<string> {
  const lines = await database.sql()<{ 'QUERY PLAN': string }[]>`explain ${statement}`;
  return lines.map((line) => line['QUERY PLAN']).join('\n');
}

beforeEach(async () => {
  const sql = database.sql();
  await empty(sql, 'alert_groups', 'timeline_entries', 'notes');
  await ensurePartitions(sql, NOW, PARTITIONED_TABLES);
});

describe('what else fires', () => {
  const shares = async (row: Omit<Row, 'number'>) => {
    await insert({ number: 1, labels: HERE, ago: 60 });
    await insert({ number: 2, ...row });
    const { groups, count } = await nearby(1);
    expect(count).toBe(groups.length);
    return groups.length === 1;
  };

  test.each<[string, boolean, Omit<Row, 'number'>]>([
    ['the same namespace', true, { labels: { namespace: 'shop' }, ago: 60 }],
    ['the same node', true, { labels: { node: 'n-1', namespace: 'other' }, ago: 60 }],
    ['30 minutes before it', true, { labels: HERE, ago: 90 }],
    ['more than 30 minutes before it', false, { labels: HERE, ago: 91 }],
    ['30 minutes after it', true, { labels: HERE, ago: 30 }],
    ['in the last 30 minutes', true, { labels: HERE, ago: 2 }],
    ['resolved', false, { labels: HERE, ago: 60, lasted: 1 }],
    ['another value', false, { labels: { namespace: 'other' }, ago: 60 }],
    ['an empty value', false, { labels: { namespace: '' }, ago: 60 }],
    ['a label that is not compared', false, { labels: { team: 'x' }, ago: 60 }],
    ['the cluster alone', false, { labels: { cluster: 'eu' }, ago: 60 }],
    [
      'the same namespace in another cluster',
      false,
      { labels: { namespace: 'shop', cluster: 'us' }, ago: 60 },
    ],
  ])('%s: %s', async (_, expected, row) => {
    expect(await shares(row)).toBe(expected);
  });

  test('most labels first, then the newest; ten of them, all counted', async () => {
    await insert({ number: 1, labels: HERE, ago: 20 });
    for (let number = 2; number <= 13; number++)
      await insert({ number, labels: { namespace: 'shop' }, ago: 20 - number });
    await insert({ number: 14, labels: HERE, ago: 45 });
    await insert({ number: 15, labels: { namespace: 'shop', cluster: 'eu' }, ago: 40 });
    const { groups, count, truncated } = await nearby(1);
    expect(groups.map(({ number }) => number)).toEqual([14, 15, 13, 12, 11, 10, 9, 8, 7, 6]);
    expect([count, truncated]).toEqual([14, false]);
  });

  test('a group without such labels has nothing beside it', async () => {
    await insert({ number: 1, labels: { cluster: 'eu', team: 'x' } });
    await insert({ number: 2, labels: { cluster: 'eu', team: 'x' } });
    expect(await nearby(1)).toEqual({ groups: [], count: 0, truncated: false });
  });
});

describe('the past of a key', () => {
  const entry = (number: number, at: number, userId: string) => database.sql()`
    insert into timeline_entries (at, place, id, group_id, kind, entry) values (
      ${at}, 2, ${`TE${number}`}, ${idOf(number)}, 'status',
      ${JSON.stringify({ event: 'acknowledged', actor: { kind: 'user', id: userId } })}::text::jsonb
    )`;
  const note = (number: number, at: number, body: string) => database.sql()`
    insert into notes (id, group_id, at, place, entry)
    values (${`NE${at}`}, ${idOf(number)}, ${at}, 1, ${JSON.stringify({ body })}::text::jsonb)`;

  test('counts 30 days before its start, and the median of what has ended', async () => {
    const key = 'same';
    await insert({ number: 1, key, ago: 31 * 24 * 60, lasted: 500 });
    await insert({ number: 2, key, ago: 300, lasted: 10 });
    await insert({ number: 3, key, ago: 200, lasted: 20 });
    await insert({ number: 4, key, ago: 150, lasted: 60 });
    await insert({ number: 5, key: 'other', ago: 140, lasted: 1 });
    await insert({ number: 6, key, route: 'RT000000000002', ago: 130, lasted: 1 });
    await insert({ number: 7, key, ago: 10 });
    expect(await past(7)).toEqual({
      from: NOW - 10 * MINUTE - 30 * DAY,
      count: 3,
      truncated: false,
      medianDuration: 20 * MINUTE,
      people: [],
      notes: [],
    });
    expect(await past(1)).toMatchObject({ count: 0, medianDuration: null });
  });

  test('names who acknowledged first, the last one first, and the newest Notes', async () => {
    const key = 'same';
    for (let number = 1; number <= 6; number++) {
      const row = { number, key, ago: 100 - 10 * number, lasted: 5, acknowledged: 1 };
      await insert(row);
      await entry(number, NOW - row.ago * MINUTE + MINUTE, number % 3 === 0 ? 'SRbob' : 'SRann');
    }
    await note(1, NOW - 80 * MINUTE, 'oldest');
    await note(2, NOW - 70 * MINUTE, 'one');
    await note(5, NOW - 45 * MINUTE, 'two');
    await note(2, NOW - 40 * MINUTE, 'three');
    await insert({ number: 7, key });
    await note(7, NOW, 'its own');
    const { people, notes } = await past(7);
    expect(people).toEqual([
      { userId: 'SRbob', count: 2 },
      { userId: 'SRann', count: 4 },
    ]);
    expect(notes.map(({ note: { body }, group: { number } }) => [body, number])).toEqual([
      ['three', 2],
      ['two', 5],
      ['one', 2],
    ]);
  });
});

test('among 100,000 open groups both are walks of bounded length through indexes', async () => {
  const sql = database.sql();
  await sql`
    insert into alert_groups (
      id, number, title, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, started_at, last_changed_at, resolved_at, resolved_by,
      reopen_count, firing_alert_count, resolved_alert_count, unclaimed, delivery_problem, in_grace
    )
    select
      'AG' || lpad(n::text, 12, '0'), n, 'Group ' || n, 'firing', ${ROUTE}, ${ROUTE},
      n::text, '{}', ${JSON.stringify(HERE)}::text::jsonb, '{}', '{}', 'info', ${NOW}::bigint - n * 10000, ${NOW},
      null, null, 0, 1, 0, false, false, false
    from generate_series(1, 100000) as n`;
  await sql`vacuum (analyze) alert_groups`;
  const group = await read(50_000);
  const plans = [await planOf(nearbyStatement(sql, group, NOW)), await planOf(pastStatement(sql, group))];
  for (const plan of plans) expect(plan).not.toContain('Seq Scan on alert_groups');
  expect(plans[0]?.match(/using alert_groups_open on/g)).toHaveLength(3);
  expect(plans[1]).toMatch(/using alert_groups_(slot|pkey)/);
  expect(plans[1]).toContain('notes_group');
  const { count, truncated, groups } = await nearby(50_000);
  // Two of the three walks meet the group itself.
  expect([count, truncated, groups.length]).toEqual([1_498, true, 10]);
});
