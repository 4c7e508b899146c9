/** The doctor's own way into a database: short-lived, and unable to write. */
import { connect } from '../../../storage/connection.ts';
import type { Transaction } from '../../../storage/records.ts';
import { inSnapshot } from '../../../storage/transaction.ts';
import type { DatabaseSettings } from '../../config.ts';

/** Shown in `pg_stat_activity`. */
export const DOCTOR = 'tocsin doctor';

/** How long the server may be silent before the connection counts as lost, ms. */
const ANSWER_WITHIN = 5_000;

export interface ReadOnlyDatabase {
  /**
   * Runs reads in one transaction that can write nothing, seeing one moment.
   * @throws what the driver throws; a statement ends after 4 s, and a wait for a lock after 2 s
   */
  read<Result>(run: (tx: Transaction) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** @param prepare false behind a transaction pooler, which also takes no settings for a session */
export function openReadOnly(settings: DatabaseSettings, prepare: boolean): ReadOnlyDatabase {
  const sql = connect(settings, {
    max: 1,
    applicationName: DOCTOR,
    prepare,
    answerWithin: ANSWER_WITHIN,
    ...(prepare ? { session: { default_transaction_read_only: 'on' } } : {}),
  });
  return {
    read: (run) =>
      inSnapshot(sql, async (tx) => {
        await tx`select set_config('statement_timeout', '4s', true), set_config('lock_timeout', '2s', true)`;
        return run(tx);
      }),
    close: () => sql.end({ timeout: 1 }),
  };
}
