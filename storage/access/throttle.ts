/** Failed attempts in PostgreSQL: the throttle holds across replicas and restarts (access §4.1). */
import type { Admission, Throttle, ThrottleKeys } from '../../actors/access/ports.ts';
import {
  countAttempt,
  evaluationEnd,
  type Failures,
  FORGOTTEN_AFTER,
  NO_FAILURES,
  PARALLEL_WAIT,
  pairKey,
  refusalKey,
  type Slowdown,
  takeBack,
  WAITS,
} from '../../actors/access/throttle.ts';
import type { AuditEntry } from '../../actors/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';

/** Transactions of one source that may wait for its row at a time; more would take connections from everybody else. */
const MOST_AT_ONCE = 3;

export function createThrottle({
  sql,
  appendAudit,
}: {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
}): Throttle {
  /** By source, how many are being admitted. */
  const admitting = new Map<string, number>();
  const leave = (source: string) => {
    const left = (admitting.get(source) ?? 1) - 1;
    if (left > 0) admitting.set(source, left);
    else admitting.delete(source);
  };

  return {
    async admit(keys, now): Promise<Admission> {
      const { source } = keys;
      const before = admitting.get(source) ?? 0;
      if (before >= MOST_AT_ONCE) return { admitted: false, wait: PARALLEL_WAIT };
      admitting.set(source, before + 1);
      try {
        return await admit(sql, keys, now);
      } finally {
        leave(source);
      }
    },

    failed: (keys, startedAt, entry) =>
      inTransaction(sql, async (tx) => {
        // Only its own evaluation: one that outlived its limit does not end the one that followed it.
        await tx`
          update login_throttles set evaluating_until = 0
          where key = ${keys.account} and evaluating_until = ${evaluationEnd(startedAt)}`;
        await appendAudit(tx, entry);
      }),

    release: (keys, startedAt) => inTransaction(sql, (tx) => endEvaluation(tx, keys, startedAt)),
  };
}

/** A proof was right: neither the account nor the source has failed. */
export async function forgetFailures(tx: Transaction, keys: ThrottleKeys): Promise<void> {
  await tx`
    delete from login_throttles where key in (
      select key from login_throttles where key = any(${keysOf(keys)}) order by key for update
    )`;
}

/** Ends the evaluation of an attempt that was not wrong, so that another one on the account may be evaluated. */
export async function endEvaluation(tx: Transaction, keys: ThrottleKeys, startedAt: Micros): Promise<void> {
  await write(tx, keys, takeBack(await lock(tx, keys), startedAt));
}

/** Most of those that are refused are refused without a lock. */
async function admit(sql: Sql, keys: ThrottleKeys, now: Micros): Promise<Admission> {
  const early = countAttempt(slowdownOf(keys, await read(sql, keys)), now);
  if ('wait' in early) return { admitted: false, wait: early.wait };
  return inTransaction(sql, async (tx): Promise<Admission> => {
    const decision = countAttempt(await lock(tx, keys), now);
    if ('wait' in decision) return { admitted: false, wait: decision.wait };
    await write(tx, keys, decision.counted);
    return { admitted: true };
  });
}

/**
 * Records a refusal that slows nobody down, as often as failed attempts of its source would be evaluated: at most once a
 * minute in the end, so that nobody can flood the Audit log.
 */
export async function recordRefusal(sql: Sql, appendAudit: AppendAudit, entry: AuditEntry): Promise<void> {
  await recordLimited(sql, appendAudit, entry, { key: refusalKey(entry.address), waits: WAITS });
}

/**
 * Records refused proofs unless an entry with their key was recorded lately, by any replica.
 * @returns null when the entry is recorded, otherwise when it may be
 */
export async function recordLimited(
  sql: Sql,
  appendAudit: AppendAudit,
  entry: AuditEntry,
  limit: { readonly key: string; readonly waits: readonly Micros[] },
): Promise<Micros | null> {
  const { at } = entry;
  const { key } = limit;
  const forgotten = at - FORGOTTEN_AFTER;
  const waits = limit.waits as number[];
  return inTransaction(sql, async (tx) => {
    const recorded = await tx`
      insert into login_throttles as known (key, failures, last_failure_at, allowed_at, evaluating_until)
      values (${key}, 1, ${at}, ${at + (waits[0] ?? 0)}, 0)
      on conflict (key) do update set
        failures = case when known.last_failure_at <= ${forgotten} then 1 else known.failures + 1 end,
        last_failure_at = ${at},
        allowed_at = ${at}::bigint + (${waits}::bigint[])[
          case when known.last_failure_at <= ${forgotten} then 1
          else least(known.failures + 1, ${waits.length}) end
        ]
      where known.allowed_at <= ${at}
      returning key`;
    if (recorded.length > 0) {
      await appendAudit(tx, entry);
      return null;
    }
    const [known] = await tx<{ allowed_at: Micros }[]>`
      select allowed_at from login_throttles where key = ${key}`;
    return known?.allowed_at ?? at;
  });
}

interface Row {
  readonly key: string;
  readonly failures: number;
  readonly last_failure_at: Micros;
  readonly allowed_at: Micros;
  readonly evaluating_until: Micros;
}

/** In the order in which they are locked. */
function keysOf(keys: ThrottleKeys): string[] {
  return [keys.account, pairKey(keys), keys.source].sort();
}

async function read(sql: Sql, keys: ThrottleKeys): Promise<readonly Row[]> {
  return sql<Row[]>`select * from login_throttles where key = any(${keysOf(keys)})`;
}

/** Rows that do not exist are made, so that there is something to lock. */
async function lock(tx: Transaction, keys: ThrottleKeys): Promise<Slowdown> {
  await tx`
    insert into login_throttles (key, failures, last_failure_at, allowed_at, evaluating_until)
    select key, 0, 0, 0, 0 from unnest(${keysOf(keys)}::text[]) key
    on conflict do nothing`;
  const rows = await tx<Row[]>`
    select * from login_throttles where key = any(${keysOf(keys)}) order by key for update`;
  return slowdownOf(keys, rows);
}

function slowdownOf(keys: ThrottleKeys, rows: readonly Row[]): Slowdown {
  const of = (key: string): Failures => {
    const row = rows.find((one) => one.key === key);
    if (!row) return NO_FAILURES;
    return {
      failures: row.failures,
      lastFailureAt: row.last_failure_at,
      allowedAt: row.allowed_at,
      evaluatingUntil: row.evaluating_until,
    };
  };
  return { account: of(keys.account), pair: of(pairKey(keys)), source: of(keys.source) };
}

async function write(
  tx: Transaction,
  keys: ThrottleKeys,
  { account, pair, source }: Slowdown,
): Promise<void> {
  const rows = [
    { key: keys.account, ...account },
    { key: pairKey(keys), ...pair },
    { key: keys.source, ...source },
  ];
  await tx`
    update login_throttles t set
      failures = n.failures,
      last_failure_at = n."lastFailureAt",
      allowed_at = n."allowedAt",
      evaluating_until = n."evaluatingUntil"
    from jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb) n (
      key text, failures integer, "lastFailureAt" bigint, "allowedAt" bigint, "evaluatingUntil" bigint
    )
    where t.key = n.key`;
}
