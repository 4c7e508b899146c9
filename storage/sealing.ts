/** Saves of sealed values, in step with rotations (secrets §5). */
import type { Keyring, Sealer } from '../runtime/secrets/keyring.ts';
import type { Sql, Transaction } from './records.ts';
import { type Change, inTransaction } from './transaction.ts';

/** A change of configuration that may seal values. */
export interface SealingChange extends Change {
  readonly sealer: Sealer;
}

/**
 * Runs a save in one transaction that seals with the key that is active in the database until it commits: a rotation
 * waits for it, and it for a rotation. The keyring is locked before every other row, in the order of a rotation, so that
 * the two never wait for each other.
 * @throws when this process does not hold the active key
 */
export function inSealingTransaction<Result>(
  sql: Sql,
  keyring: Pick<Keyring, 'sealer'>,
  run: (tx: Transaction, sealer: Sealer) => Promise<Result>,
): Promise<Result> {
  return inTransaction(sql, async (tx) => {
    const [row] = await tx<{ active_key_id: string }[]>`select active_key_id from keyring for share`;
    if (!row) throw new Error('the keyring is missing: the ensure steps have not run');
    return run(tx, keyring.sealer(row.active_key_id));
  });
}
