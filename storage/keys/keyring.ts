/** Master keys and the database: the proof that they fit, which are needed and held, and saves that seal (secrets §2 to §5). */
import type { Micros } from '../../runtime/clock.ts';
import { type KeyEntry, keyEntries } from '../../runtime/secrets/key-report.ts';
import {
  createKeyring,
  type Keyring,
  type MasterKey,
  type Sealed,
  type Sealer,
  type SwitchableKeyring,
} from '../../runtime/secrets/keyring.ts';
import { SEALED_FIELDS } from '../../runtime/secrets/sealed-fields.ts';
import { liveReplicas } from '../engine/replica-records.ts';
import { LOCKS } from '../postgres/locks.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type Change, inSnapshot, inTransaction } from '../postgres/transaction.ts';

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

/** Which master keys the values of a database need (secrets §5). */
export interface KeyUse {
  /** Null on a database that was never started on. */
  readonly activeKeyId: string | null;
  /** How many sealed values each key id opens; ids without any are absent. */
  readonly sealedWith: ReadonlyMap<string, number>;
  /** How many open Root messages have buttons that each key signed; ids without any are absent. */
  readonly signedWith: ReadonlyMap<string, number>;
}

/** Reads every sealed column once, and what signed the buttons that people may still press. */
export async function readKeyUse(tx: Transaction): Promise<KeyUse> {
  const sealedWith = new Map<string, number>();
  for (const { table, column } of SEALED_FIELDS) {
    const rows = await tx<{ key_id: string; count: number }[]>`
      select split_part(${tx(column)}, ':', 1) as key_id, count(*) as count
      from ${tx(table)} where ${tx(column)} is not null group by 1`;
    for (const { key_id: id, count } of rows) sealedWith.set(id, (sealedWith.get(id) ?? 0) + count);
  }
  // index: deliveries_signed
  const signed = await tx<{ signed_with: string; count: number }[]>`
    select signed_with, count(*) as count from deliveries
    where signed_with is not null and is_open group by 1`;
  const signedWith = new Map(signed.map(({ signed_with: id, count }) => [id, count]));
  return { activeKeyId: await readActiveKeyId(tx), sealedWith, signedWith };
}

/** The master keys of the installation, as the API and the command line show them (secrets §5). */
export function readKeys(sql: Sql, now: Micros): Promise<readonly KeyEntry[]> {
  return inSnapshot(sql, async (tx) =>
    keyEntries({ ...(await readKeyUse(tx)), replicas: await keyHolders(tx, now) }),
  );
}

export interface KeyHolder {
  readonly id: string;
  readonly keyIds: readonly string[];
}

/** Live replicas, each with the keys of its newest run: one that was killed and came back holds what it holds now. */
export async function keyHolders(tx: Transaction, now: Micros): Promise<readonly KeyHolder[]> {
  const newest = new Map<string, KeyHolder>();
  for (const { id, keyIds } of await liveReplicas(tx, now)) newest.set(id, { id, keyIds });
  return [...newest.values()];
}
