import { beforeEach, describe, expect, test } from 'vitest';
import { DAY, parseInstant } from '../../runtime/clock.ts';
import { useDatabase } from '../../test/postgres.ts';
import {
  dropPartitions,
  ensurePartitions,
  type PartitionedTable,
  periodNamed,
  periodsFrom,
} from './partitions.ts';

const database = useDatabase('empty');

const DAILY: PartitionedTable = { table: 'daily', period: 'day', unit: 'micros', storage: 'fillfactor = 90' };
const NUMBERED: PartitionedTable = { table: 'numbered', period: 'day', unit: 'day_number', storage: null };
const MONTHLY: PartitionedTable = { table: 'monthly', period: 'month', unit: 'micros', storage: null };
const ALL = [DAILY, NUMBERED, MONTHLY];

const at = (text: string) => parseInstant(text) ?? Number.NaN;
const NEW_YEARS_EVE = at('2026-12-30T23:59:59.999999Z');

beforeEach(async () => {
  await database.sql().unsafe(`
    drop table if exists daily, numbered, monthly;
    create table daily (at bigint not null, n integer, primary key (at, n)) partition by range (at);
    create table numbered (day integer not null) partition by range (day);
    create table monthly (at bigint not null) partition by range (at);
    create index on monthly (at)`);
});

describe('periods', () => {
  test('days run over the end of a year', () => {
    const days = periodsFrom(DAILY, NEW_YEARS_EVE);
    expect(days).toHaveLength(8);
    expect(days[0]).toEqual({
      name: 'daily_20261230',
      from: at('2026-12-30T00:00:00Z'),
      until: at('2026-12-31T00:00:00Z'),
    });
    expect(days[2]).toEqual({
      name: 'daily_20270101',
      from: at('2027-01-01T00:00:00Z'),
      until: at('2027-01-02T00:00:00Z'),
    });
  });

  test('months have their own lengths', () => {
    expect(
      periodsFrom(MONTHLY, NEW_YEARS_EVE).map(({ name, from, until }) => [name, (until - from) / DAY]),
    ).toEqual([
      ['monthly_202612', 31],
      ['monthly_202701', 31],
      ['monthly_202702', 28],
    ]);
  });

  test.each(ALL)('names of $table are read back', (table) => {
    for (const period of periodsFrom(table, NEW_YEARS_EVE))
      expect(periodNamed(table, period.name)).toEqual(period);
    expect(periodNamed(table, `${table.table}_old`)).toBeNull();
    expect(periodNamed(table, 'other_20261230')).toBeNull();
  });
});

describe('partitions', () => {
  test('are made once, by whichever replica comes first', async () => {
    const made = await Promise.all([1, 2, 3].map(() => ensurePartitions(database.sql(), NEW_YEARS_EVE, ALL)));
    expect(made.flat().sort()).toEqual(
      ALL.flatMap((table) => periodsFrom(table, NEW_YEARS_EVE).map(({ name }) => name)).sort(),
    );
    expect(await ensurePartitions(database.sql(), NEW_YEARS_EVE, ALL)).toEqual([]);
    expect(await ensurePartitions(database.sql(), NEW_YEARS_EVE + 1, ALL)).toEqual([
      'daily_20270107',
      'numbered_20270107',
    ]);
  });

  test('hold what belongs to their range; a time without one is a loud error', async () => {
    const sql = database.sql();
    await ensurePartitions(sql, NEW_YEARS_EVE, ALL);
    await sql`insert into daily values (${NEW_YEARS_EVE}, 1), (${NEW_YEARS_EVE + 1}, 1)`;
    await sql`insert into numbered values (${Math.floor(NEW_YEARS_EVE / DAY)})`;
    await sql`insert into monthly values (${NEW_YEARS_EVE})`;
    const rows = await sql`
      select tableoid::regclass::text as name from daily
      union all select tableoid::regclass::text from numbered
      union all select tableoid::regclass::text from monthly`;
    expect(rows.map(({ name }) => name)).toEqual([
      'daily_20261230',
      'daily_20261231',
      'numbered_20261230',
      'monthly_202612',
    ]);
    await expect(sql`insert into daily values (${NEW_YEARS_EVE - DAY}, 1)`).rejects.toThrow('no partition');
  });

  test('have the keys, indexes and storage of their table', async () => {
    const sql = database.sql();
    await ensurePartitions(sql, NEW_YEARS_EVE, ALL);
    const indexes =
      await sql`select indexdef from pg_indexes where tablename in ('daily_20261230', 'monthly_202612') order by 1`;
    expect(indexes.map(({ indexdef }) => String(indexdef).replace(/^.* on /i, ''))).toEqual([
      expect.stringContaining('(at)'),
      expect.stringContaining('(at, n)'),
    ]);
    const [options] = await sql`select reloptions from pg_class where relname = 'daily_20261230'`;
    expect(options?.reloptions).toEqual(['fillfactor=90']);
  });

  test('are dropped when their whole range is past', async () => {
    const sql = database.sql();
    await ensurePartitions(sql, NEW_YEARS_EVE, ALL);
    expect(await dropPartitions(sql, DAILY, at('2027-01-01T23:59:59Z'))).toEqual([
      'daily_20261230',
      'daily_20261231',
    ]);
    expect(await dropPartitions(sql, MONTHLY, at('2026-12-31T23:59:59Z'))).toEqual([]);
    expect(await dropPartitions(sql, MONTHLY, at('2027-01-01T00:00:00Z'))).toEqual(['monthly_202612']);
  });

  test('are made while a long transaction writes to the table', async () => {
    const sql = database.sql();
    await ensurePartitions(sql, NEW_YEARS_EVE, [DAILY]);
    await sql.begin(async (tx) => {
      await tx`insert into daily values (${NEW_YEARS_EVE}, 1)`;
      expect(await ensurePartitions(sql, NEW_YEARS_EVE + DAY, [DAILY])).toEqual(['daily_20270107']);
    });
  });
});
