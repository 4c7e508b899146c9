/** Makes and drops partitions by day or month, from which retention removes by age (operations §3 rule 5). */
import { DAY, type Micros } from '../../runtime/clock.ts';
import { LOCKS } from './locks.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

/** A table partitioned by range over time, in UTC days or months. */
export interface PartitionedTable {
  readonly table: string;
  readonly period: 'day' | 'month';
  /** What the partition key counts: µs, or whole days since 1970-01-01. */
  readonly unit: 'micros' | 'day_number';
  /** Storage parameters of every partition, such as `fillfactor = 90`; null for none. */
  readonly storage: string | null;
  /** Function that refuses to empty a partition, as a trigger of the table does for the table. */
  readonly neverTruncated?: string;
}

/** How many periods after the present one are made in advance. */
const AHEAD = { day: 7, month: 2 } as const;
const LOCK_TIMEOUT = '2s';

/** One partition: from `from` to `until`, µs, the end not included. */
export interface Period {
  readonly name: string;
  readonly from: Micros;
  readonly until: Micros;
}

/**
 * Makes the partitions of now and of the coming days or months that are not there yet. Idempotent, and safe when
 * several replicas do it at once; writers of the tables are not held up.
 * @returns names of the partitions that this call made
 * @throws {PostgresError} 55P03 when a table stays locked for 2 s; what was made before stays
 */
export async function ensurePartitions(
  sql: Sql,
  now: Micros,
  tables: readonly PartitionedTable[],
): Promise<string[]> {
  const created: string[] = [];
  for (const table of tables) {
    const present = new Set(await partitionsOf(sql, table.table));
    const missing = periodsFrom(table, now).filter(({ name }) => !present.has(name));
    for (const period of missing) {
      if (await inTransaction(sql, (tx) => createPartition(tx, table, period))) created.push(period.name);
    }
  }
  return created;
}

/** Partitions that {@link ensurePartitions} would make, soonest first; changes nothing. */
export async function missingPartitions(
  sql: Sql | Transaction,
  now: Micros,
  tables: readonly PartitionedTable[],
): Promise<Period[]> {
  const missing: Period[] = [];
  for (const table of tables) {
    const present = new Set(await partitionsOf(sql, table.table));
    missing.push(...periodsFrom(table, now).filter(({ name }) => !present.has(name)));
  }
  return missing.sort((a, b) => a.from - b.from);
}

/**
 * Drops the partitions whose whole range is before an instant, each in a transaction of its own.
 * @param isFree asked right before: whether nobody needs what a partition holds
 * @returns names of the partitions that this call dropped
 * @throws {PostgresError} 55P03 when a table stays locked for 2 s; what was dropped before is gone
 */
export async function dropPartitions(
  sql: Sql,
  table: PartitionedTable,
  before: Micros,
  isFree: (tx: Transaction, partition: string) => Promise<boolean> = async () => true,
): Promise<string[]> {
  const dropped: string[] = [];
  for (const name of await pastPartitions(sql, table, before)) {
    const isGone = await inTransaction(sql, async (tx) => {
      await lockPartitions(tx);
      if (!(await partitionsOf(tx, table.table)).includes(name) || !(await isFree(tx, name))) return false;
      await tx`drop table ${tx(name)}`;
      return true;
    });
    if (isGone) dropped.push(name);
  }
  return dropped;
}

/** Names of the partitions whose whole range is before an instant, oldest first. */
export async function pastPartitions(sql: Sql, table: PartitionedTable, before: Micros): Promise<string[]> {
  return (await partitionsOf(sql, table.table)).filter((name) => {
    const period = periodNamed(table, name);
    return period !== null && period.until <= before;
  });
}

/** The partition of an instant and those ahead of it. */
export function periodsFrom({ table, period }: PartitionedTable, now: Micros): Period[] {
  const first = new Date(Math.floor(now / 1000));
  return Array.from({ length: AHEAD[period] + 1 }, (_, step) => {
    const [year, month, day] = [first.getUTCFullYear(), first.getUTCMonth(), first.getUTCDate()];
    return period === 'day'
      ? dayPeriod(table, year, month, day + step)
      : monthPeriod(table, year, month + step);
  });
}

/** Reads a partition's name back; null when it is not one of ours. */
export function periodNamed({ table, period }: PartitionedTable, name: string): Period | null {
  const digits = name.startsWith(`${table}_`) ? name.slice(table.length + 1) : '';
  const match = (period === 'day' ? /^(\d{4})(\d{2})(\d{2})$/ : /^(\d{4})(\d{2})$/).exec(digits);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]) - 1, Number(match[3])];
  return period === 'day' ? dayPeriod(table, year, month, day) : monthPeriod(table, year, month);
}

/** Days and months past the end of their month or year count on into the next. */
function dayPeriod(table: string, year: number, month: number, day: number): Period {
  const from = Date.UTC(year, month, day) * 1000;
  return { name: `${table}_${digitsOf(from, 8)}`, from, until: from + DAY };
}

function monthPeriod(table: string, year: number, month: number): Period {
  const from = Date.UTC(year, month, 1) * 1000;
  return { name: `${table}_${digitsOf(from, 6)}`, from, until: Date.UTC(year, month + 1, 1) * 1000 };
}

function digitsOf(at: Micros, length: number): string {
  return new Date(at / 1000).toISOString().replaceAll('-', '').slice(0, length);
}

async function partitionsOf(sql: Sql | Transaction, table: string): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select child.relname as name
    from pg_inherits
    join pg_class child on child.oid = inhrelid
    where inhparent = ${table}::text::regclass
    order by child.relname`;
  return rows.map(({ name }) => name);
}

async function lockPartitions(tx: Transaction): Promise<void> {
  await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`);
  await tx`select pg_advisory_xact_lock(${LOCKS.partitions})`;
}

/**
 * A table beside the others, attached when it is complete: unlike `create … partition of`, that lets inserts go on.
 * False when another replica made it meanwhile.
 */
export async function createPartition(
  tx: Transaction,
  { table, unit, storage, neverTruncated }: PartitionedTable,
  { name, from, until }: Period,
): Promise<boolean> {
  await lockPartitions(tx);
  if ((await partitionsOf(tx, table)).includes(name)) return false;
  const bound = (at: Micros) => (unit === 'micros' ? at : at / DAY);
  await tx.unsafe(`
    create table "${name}" (like "${table}" including all) ${storage === null ? '' : `with (${storage})`};
    alter table "${table}" attach partition "${name}" for values from (${bound(from)}) to (${bound(until)})`);
  if (neverTruncated !== undefined) {
    await tx.unsafe(`
      create trigger not_truncated before truncate on "${name}"
        for each statement execute function ${neverTruncated}()`);
  }
  return true;
}

/** The UTC day of an instant, counted from 1970-01-01: the partition of a body received then. */
export function dayOf(at: Micros): number {
  return Math.floor(at / DAY);
}
