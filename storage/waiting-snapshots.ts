import type { Sql, Transaction } from './records.ts';

/** Up to how many waiting Snapshots are counted one by one: a few milliseconds. */
const COUNTED_EXACTLY = 100_000;

/**
 * How many Snapshots wait to be processed: exactly up to 100,000. Beyond, it is the server's own estimate, which follows
 * every commit within a second; as a crash of the server makes it forget, it never counts less than was seen.
 */
export async function countWaitingSnapshots(sql: Sql | Transaction): Promise<number> {
  const [row] = await sql<{ waiting: number }[]>`
    select case
      when counted.waiting <= ${COUNTED_EXACTLY} then counted.waiting
      else greatest(counted.waiting, pg_stat_get_live_tuples('snapshot_queue'::regclass))
    end as waiting
    from (
      select count(*) as waiting from (select from snapshot_queue limit ${COUNTED_EXACTLY + 1}) as first_rows
    ) as counted`;
  return row?.waiting ?? 0;
}
