/** Transactions: how one is begun, how long the server waits for the rest of it, and who is named for a change. */
import type { Authorship } from '../../actors/audit.ts';
import type { AuditEntry } from '../../actors/effects.ts';
import type { CommitBatch } from '../../runtime/actor/index.ts';
import type { Sql, Transaction } from './records.ts';

/** A change of configuration under way: where it is written, and who is named for it. */
export interface Change {
  readonly tx: Transaction;
  readonly appendAudit: AppendAudit;
  readonly author: Authorship;
}

/** Runs in one transaction, committed when `run` resolves and rolled back when it throws. */
export function inTransaction<Result>(sql: Sql, run: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return begin(sql, 'isolation level read committed read write', run);
}

/** Several reads of one moment. */
export function inSnapshot<Result>(sql: Sql, run: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return begin(sql, 'isolation level repeatable read read only', run);
}

/**
 * Reads whose best plan depends on what is asked for: each is planned for its own values. After a few askings the server
 * would plan once for all values, and a rare label would be looked for as if it were a common one.
 */
export function inPlannedSnapshot<Result>(
  sql: Sql,
  run: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return inSnapshot(sql, async (tx) => {
    // Handed to the driver before what it is for, which need not wait for its answer.
    const anew = tx`select set_config('plan_cache_mode', 'force_custom_plan', true)`.execute();
    const [, result] = await together(anew, run(tx));
    return result;
  });
}

/** The driver's own type loses what a generic `run` gives. */
async function begin<Result>(
  sql: Sql,
  mode: string,
  run: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  let result: { readonly value: Result } | null = null;
  await sql.begin(mode, async (tx) => {
    result = { value: await run(tx) };
  });
  if (result === null) throw new Error('the transaction ended without a result');
  return (result as { readonly value: Result }).value;
}

/** Whether a statement failed on the uniqueness rule of that name. */
function violates(error: unknown, rule: string): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { code, constraint_name: name } = error as { code?: unknown; constraint_name?: unknown };
  return code === '23505' && name === rule;
}

/** What `change` gives, or `taken` when it failed on that uniqueness rule. */
export async function unlessViolated<Result, Taken>(
  rule: string,
  taken: Taken,
  change: () => Promise<Result>,
): Promise<Result | Taken> {
  try {
    return await change();
  } catch (error) {
    if (violates(error, rule)) return taken;
    throw error;
  }
}

/** Writes an entry of the Audit log with the change that it is about. */
export type AppendAudit = (tx: Transaction, entry: AuditEntry) => Promise<void>;

/**
 * Waits for statements that were handed to one transaction at once. Unlike `Promise.all` it returns only when all of
 * them are settled: a statement that a part issues after the transaction was rolled back would take effect on its own.
 * @throws the error that came first
 */
export async function together<T extends readonly unknown[]>(
  ...parts: { readonly [Index in keyof T]: Promise<T[Index]> }
): Promise<T> {
  let first: { readonly error: unknown } | null = null;
  const values = await Promise.all(
    parts.map((part) =>
      part.catch((error: unknown) => {
        first ??= { error };
      }),
    ),
  );
  if (first !== null) throw (first as { readonly error: unknown }).error;
  return values as unknown as T;
}

/**
 * For a transaction that finds its rows by key. The server keeps plans that it made for the sizes that tables had then:
 * one made while they were small would read all of them for ever after. By key is right at every size.
 */
export function pinPlans(tx: Transaction): Promise<unknown> {
  // Handed to the driver before what it is for, which need not wait for its answer.
  return tx`
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
      set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`.execute();
}

/** A takeover from a process that stopped in the middle of a commit waits as long (operations §5.2), ms. */
const FIRST_PATIENCE = 1_500;
/** Below what a commit's connection may be silent for. */
const LONGEST_PATIENCE = 9_000;

/**
 * Makes the server undo the transaction of a process that stopped in the middle of it: between two statements after
 * `patience` ms, while one is carried out after `statement` ms, for it may wait for another's. It has no limit for a
 * process that stopped between the two parts in which the driver sends a statement that is new to its session:
 * whoever takes over ends that one (`placement.ts`). Said in the transaction, it holds behind a transaction pooler, too.
 */
export async function limitStalls(
  tx: Transaction,
  patience: number,
  statement = 2 * patience,
): Promise<void> {
  await tx`
    select set_config('idle_in_transaction_session_timeout', ${String(patience)}, true),
      set_config('statement_timeout', ${String(statement)}, true)`;
}

/** How long the server waits for the rest of a commit before it gives it up, ms. */
export type CommitPatience = (batch: CommitBatch) => number;

/**
 * Patience that doubles each time the same batch comes again: a process that is too busy to be in time would be so
 * every time, and nothing of it would ever be stored.
 */
export function createCommitPatience(): CommitPatience {
  const offered = new WeakMap<CommitBatch, number>();
  return (batch) => {
    const before = offered.get(batch) ?? 0;
    offered.set(batch, before + 1);
    return Math.min(FIRST_PATIENCE * 2 ** before, LONGEST_PATIENCE);
  };
}
