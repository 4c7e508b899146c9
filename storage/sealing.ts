/** Saves of sealed values, in step with rotations (secrets §5). */
import type { Keyring, Sealer } from '../runtime/secrets/keyring.ts';
import { readActiveKeyId } from './keyring.ts';
import { LOCKS } from './locks.ts';
import type { Sql, Transaction } from './records.ts';
import { type Change, inTransaction } from './transaction.ts';

/** A change of configuration that may seal values. */
export interface SealingChange extends Change {
  readonly sealer: Sealer;
}

/**
 * Runs a save in one transaction that seals with the key that is active in the database until it commits: a rotation
 * waits for it, and it for a rotation. The lock comes before every row, in the order of a rotation, so that the two never
 * wait for each other; unlike a row lock it lets whoever came first go first.
 * @throws when this process does not hold the active key
 */
export function inSealingTransaction<Result>(
  sql: Sql,
  keyring: Pick<Keyring, 'sealer'>,
  run: (tx: Transaction, sealer: Sealer) => Promise<Result>,
): Promise<Result> {
  return inTransaction(sql, async (tx) => {
    await tx`select pg_advisory_xact_lock_shared(${LOCKS.sealing})`;
    const active = await readActiveKeyId(tx);
    if (active === null) throw new Error('the keyring is missing: the ensure steps have not run');
    return run(tx, keyring.sealer(active));
  });
}
