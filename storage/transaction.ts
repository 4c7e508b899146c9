import type { Authorship } from '../actors/audit.ts';
import type { AppendAudit } from './access.ts';
import type { Sql, Transaction } from './records.ts';
import { together } from './together.ts';

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
