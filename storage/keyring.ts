/** The active key and the proof that database and keys belong together (secrets §2, §4). */
import {
  createKeyring,
  type MasterKey,
  type Sealed,
  type Sealer,
  type SwitchableKeyring,
} from '../runtime/secrets/keyring.ts';
import { LOCKS } from './locks.ts';
import type { Sql, Transaction } from './records.ts';

const CANARY_TEXT = 'tocsin: these keys fit this database';
const CANARY_FIELD = 'keyring.canary';
const CANARY_OWNER = 'keyring';

/** The keys of this process and the database do not fit; start-up stops with this message. */
export class KeyringError extends Error {
  override readonly name = 'KeyringError';
  readonly problem: KeyringProblem;

  constructor(problem: KeyringProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}

/** As the log names it. */
export type KeyringProblem = 'active_key_not_held' | 'key_canary_failed';

interface KeyringRow {
  readonly active_key_id: string;
  readonly canary: Sealed;
}

/**
 * Opens the keyring under the start-up lock, before anything else is written. On a new database the first key becomes
 * active and the canary is made.
 * @throws {KeyringError} the active key is not held, or the canary does not open
 */
export async function ensureKeyring(tx: Transaction, keys: readonly MasterKey[]): Promise<SwitchableKeyring> {
  const present = await readKeyring(tx, keys);
  if (present) return present;
  const [first] = keys;
  if (!first) throw new Error('No master key is held.');
  const keyring = createKeyring(keys, first.id);
  await tx`
    insert into keyring (active_key_id, canary) values (${first.id}, ${canaryOf(keyring.sealer(first.id))})`;
  return keyring;
}

/**
 * The keyring of a database, opened with these keys; null on a database that was never started on.
 * @throws {KeyringError} the active key is not held, or the canary does not open
 */
export async function readKeyring(
  tx: Transaction,
  keys: readonly MasterKey[],
): Promise<SwitchableKeyring | null> {
  const [row] = await tx<KeyringRow[]>`select active_key_id, canary from keyring`;
  return row ? openKeyring(row, keys) : null;
}

/** Until the transaction ends nothing is sealed and no other key becomes active. */
export async function lockSealing(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${LOCKS.sealing})`;
}

/** Makes another key active, with a canary of its own, after {@link lockSealing}. */
export async function writeActiveKey(tx: Transaction, sealer: Sealer): Promise<void> {
  await tx`update keyring set active_key_id = ${sealer.keyId}, canary = ${canaryOf(sealer)}`;
}

/** Null on a database that was never started on. */
export async function readActiveKeyId(sql: Sql | Transaction): Promise<string | null> {
  const [row] = await sql<{ active_key_id: string }[]>`select active_key_id from keyring`;
  return row?.active_key_id ?? null;
}

function canaryOf(sealer: Sealer): Sealed {
  return sealer.seal(CANARY_FIELD, CANARY_OWNER, CANARY_TEXT);
}

function openKeyring(
  { active_key_id: active, canary }: KeyringRow,
  keys: readonly MasterKey[],
): SwitchableKeyring {
  const held = keys.map((key) => key.id);
  if (!held.includes(active)) {
    throw new KeyringError(
      'active_key_not_held',
      `The active key of this database is ${active}, and it is not held. Held: ${held.join(', ')}.`,
    );
  }
  const keyring = createKeyring(keys, active);
  const opened = keyring.open(CANARY_FIELD, CANARY_OWNER, canary);
  if (opened.ok && opened.value === CANARY_TEXT) return keyring;
  throw new KeyringError(
    'key_canary_failed',
    `The master key does not match the database: its canary does not open with ${active}.`,
  );
}
