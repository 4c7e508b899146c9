/** The active key and the proof that database and keys belong together (secrets §2, §4). */
import { createKeyring, type Keyring, type MasterKey, type Sealed } from '../runtime/secrets/keyring.ts';
import type { Transaction } from './records.ts';

const CANARY_TEXT = 'tocsin: these keys fit this database';
const CANARY_FIELD = 'keyring.canary';
const CANARY_OWNER = 'keyring';

/** The keys of this process and the database do not fit; start-up stops with this message. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
}

interface KeyringRow {
  readonly active_key_id: string;
  readonly canary: Sealed;
}

/**
 * Opens the keyring under the start-up lock, before anything else is written. On a new database the first key becomes
 * active and the canary is made.
 * @throws {KeyringError} the active key is not held, or the canary does not open
 */
export async function ensureKeyring(tx: Transaction, keys: readonly MasterKey[]): Promise<Keyring> {
  const present = await readKeyring(tx, keys);
  if (present) return present;
  const [first] = keys;
  if (!first) throw new KeyringError('No master key is held.');
  const keyring = createKeyring(keys, first.id);
  const canary = keyring.seal(CANARY_FIELD, CANARY_OWNER, CANARY_TEXT);
  await tx`insert into keyring (active_key_id, canary) values (${first.id}, ${canary})`;
  return keyring;
}

/**
 * The keyring of a database, opened with these keys; null on a database that was never started on.
 * @throws {KeyringError} the active key is not held, or the canary does not open
 */
export async function readKeyring(tx: Transaction, keys: readonly MasterKey[]): Promise<Keyring | null> {
  const [row] = await tx<KeyringRow[]>`select active_key_id, canary from keyring`;
  return row ? openKeyring(row, keys) : null;
}

function openKeyring({ active_key_id: active, canary }: KeyringRow, keys: readonly MasterKey[]): Keyring {
  const held = keys.map((key) => key.id);
  if (!held.includes(active)) {
    throw new KeyringError(
      `The active key of this database is ${active}, and it is not held. Held: ${held.join(', ')}.`,
    );
  }
  const keyring = createKeyring(keys, active);
  const opened = keyring.open(CANARY_FIELD, CANARY_OWNER, canary);
  if (opened.ok && opened.value === CANARY_TEXT) return keyring;
  throw new KeyringError('The master keys do not fit this database: its canary does not open.');
}
