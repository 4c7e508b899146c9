/** Deterministic races: a request waits in the database for the lock of a change that commits first. */
import type { Sql, Transaction } from '../../storage/postgres/records.ts';
import { until } from './until.ts';

/**
 * Sends a request that waits for a lock of `change`, which commits once it does.
 * @param wait runs before that commit
 * @returns the result of the request
 */
export async function whileLocked<Result>(
  sql: Sql,
  change: (tx: Transaction) => Promise<unknown>,
  send: () => Promise<Result>,
  wait: (sent: Promise<Result>) => Promise<unknown> = async () => undefined,
): Promise<Result> {
  let sent: Promise<Result> | null = null;
  await sql.begin(async (tx) => {
    await change(tx);
    sent = send();
    await until('what was sent to wait for the change', async () => {
      const waiting = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await wait(sent);
  });
  if (sent === null) throw new Error('the change failed before anything was sent');
  return sent;
}
