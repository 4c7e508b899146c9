import type { Micros } from '../runtime/clock.ts';
import type { Sql, Transaction } from './records.ts';

/** The clock of the database, µs. Only to compare clocks with: times of the service come from its own `Clock`. */
export async function readDatabaseClock(sql: Sql | Transaction): Promise<Micros> {
  const [row] = await sql<{ now: Micros }[]>`
    select (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`;
  if (!row) throw new Error('a statement without a condition gave no row');
  return row.now;
}
