/** Tells what a transaction wrote into the Audit log once it has committed, whoever began it (access §11). */
import { type AuditLogEntry, auditLogBody } from '../actors/access/audit-log.ts';
import type { Log } from '../runtime/log.ts';
import { maskLiterals } from '../runtime/secrets/mask-literals.ts';
import type { Sql, Transaction } from './records.ts';

type Run<Result> = (tx: Transaction) => Result | Promise<Result>;

const written = new WeakMap<Transaction, AuditLogEntry[]>();

/** Keeps what a transaction has written; forgotten with it when it is rolled back. */
export function noteWritten(tx: Transaction, entries: readonly AuditLogEntry[]): void {
  const before = written.get(tx);
  if (before) before.push(...entries);
  else written.set(tx, [...entries]);
}

/**
 * The same client, which tells every entry of each of its transactions after it has committed, in the order of writing.
 * Nothing is told of a transaction whose end is not known because the connection was lost.
 */
export function tellingCommitted(sql: Sql, tell: (entry: AuditLogEntry) => void): Sql {
  const plain = sql.begin.bind(sql);
  const begin = async <Result>(...asked: readonly [Run<Result>] | readonly [string, Run<Result>]) => {
    const [mode, run] = asked.length === 1 ? ['', asked[0]] : asked;
    let begun: Transaction | null = null;
    const result = await plain(mode, (tx) => {
      begun = tx;
      return run(tx);
    });
    const entries = begun === null ? [] : (written.get(begun) ?? []);
    for (const entry of entries) tell(entry);
    return result;
  };
  return Object.assign(sql, { begin });
}

/** Logs what was committed. Entries hold no Secret, but maybe credentials that somebody wrote out in a configuration. */
export function logAudited(log: Log): (entry: AuditLogEntry) => void {
  return (entry) => log('audit_entry', { entry: maskLiterals(auditLogBody(entry)) });
}
