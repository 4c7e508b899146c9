/** Failed attempts in Postgres: all replicas slow the same account and source down, and a restart forgets nothing (access §4.1). */
import type { Admission, Throttle, ThrottleKeys } from '../actors/access/ports.ts';
import { EVALUATION_LIMIT, FORGOTTEN_AFTER, PARALLEL_WAIT, WAITS } from '../actors/access/throttle.ts';
import type { Micros } from '../runtime/clock.ts';
import type { AppendAudit } from './access.ts';
import type { Sql, Transaction } from './records.ts';
import { inTransaction } from './transaction.ts';

export function createThrottle({
  sql,
  appendAudit,
}: {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
}): Throttle {
  return {
    async admit({ account, source }, now): Promise<Admission> {
      const wait = await waitOf(sql, [account, source], now);
      if (wait > 0) return { admitted: false, wait };
      // One statement decides between attempts that arrive together, at whatever replica.
      const claimed = await sql`
        insert into login_throttles as known (key, failures, last_failure_at, allowed_at, evaluating_until)
        values (${account}, 0, ${now}, ${now}, ${now + EVALUATION_LIMIT})
        on conflict (key) do update set evaluating_until = excluded.evaluating_until
        where known.evaluating_until <= ${now} and known.allowed_at <= ${now}
        returning key`;
      if (claimed.length > 0) return { admitted: true };
      return { admitted: false, wait: Math.max(await waitOf(sql, [account], now), PARALLEL_WAIT) };
    },

    async failed({ account, source }, now, entry) {
      await inTransaction(sql, async (tx) => {
        await countFailure(tx, [account, source], now);
        if (entry) await appendAudit(tx, entry);
      });
    },

    release: (account) => endEvaluation(sql, account),
  };
}

/** A proof was right: neither the account nor the source has failed. */
export async function forgetFailures(tx: Transaction, { account, source }: ThrottleKeys): Promise<void> {
  await tx`delete from login_throttles where key = any(${[account, source].sort()})`;
}

/** Another attempt on the account may be looked at. */
export async function endEvaluation(sql: Sql | Transaction, account: string): Promise<void> {
  await sql`update login_throttles set evaluating_until = 0 where key = ${account}`;
}

async function waitOf(sql: Sql, keys: readonly string[], now: Micros): Promise<Micros> {
  const rows = await sql<{ allowed_at: Micros }[]>`
    select allowed_at from login_throttles where key = any(${keys as string[]})`;
  return Math.max(0, ...rows.map((row) => row.allowed_at - now));
}

/** Counts one more failure of each key, from none when the last one is forgotten; in key order, against deadlocks. */
async function countFailure(tx: Transaction, keys: readonly string[], now: Micros): Promise<void> {
  const forgotten = now - FORGOTTEN_AFTER;
  await tx`
    insert into login_throttles as known (key, failures, last_failure_at, allowed_at, evaluating_until)
    select key, 1, ${now}, ${now}::bigint + (${WAITS as number[]}::bigint[])[1], 0
    from unnest(${[...keys].sort()}::text[]) key
    on conflict (key) do update set
      failures = case when known.last_failure_at <= ${forgotten} then 1 else known.failures + 1 end,
      last_failure_at = ${now},
      allowed_at = ${now}::bigint + (${WAITS as number[]}::bigint[])[
        least(
          case when known.last_failure_at <= ${forgotten} then 1 else known.failures + 1 end,
          ${WAITS.length}
        )::integer
      ],
      evaluating_until = 0`;
}
