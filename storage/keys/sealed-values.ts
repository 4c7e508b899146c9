/** Every sealed value of a database, by the one list of fields (secrets §3.2), and the columns of proxies. */
import type { PasswordChange, ProxyFields } from '../../actors/proxy-config.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Keyring, Sealed, Sealer } from '../../runtime/secrets/keyring.ts';
import {
  SEALED_FIELDS,
  type SealedField,
  type SealedFieldName,
} from '../../runtime/secrets/sealed-fields.ts';
import type { Transaction } from '../postgres/records.ts';

/** Values that a statement rewrites. */
const AT_ONCE = 500;

/** The canary is made anew with its key, never moved or wiped. */
export const SECRET_FIELDS = SEALED_FIELDS.filter(({ field }) => field !== 'keyring.canary');

export interface SealedValue {
  readonly field: SealedFieldName;
  readonly owner: string;
  readonly sealed: Sealed;
}

/** A value that none of the held keys opens in its place. */
export interface UnreadableValue {
  readonly field: SealedFieldName;
  readonly owner: string;
  /** The key that it names. */
  readonly keyId: string;
}

/** Values of a field, in the order of their owners. */
export async function sealedValues(
  tx: Transaction,
  { field, table, column, owner }: (typeof SEALED_FIELDS)[number],
): Promise<readonly SealedValue[]> {
  const rows = await tx<{ owner: string; sealed: Sealed }[]>`
    select ${tx.unsafe(owner)} as owner, ${tx(column)} as sealed from ${tx(table)}
    where ${tx(column)} is not null
    order by 1`;
  return rows.map((row) => ({ field, owner: row.owner, sealed: row.sealed }));
}

export interface Resealed {
  readonly from: Sealed;
  readonly to: Sealed;
}

/** Seals a value anew; null when it does not open. */
export function reseal(keyring: Keyring, sealer: Sealer, value: SealedValue): Resealed | UnreadableValue {
  const { field, owner, sealed } = value;
  const opened = keyring.open(field, owner, sealed);
  if (!opened.ok) return { field, owner, keyId: opened.keyId };
  return { from: sealed, to: sealer.seal(field, owner, opened.value) };
}

/**
 * Puts resealed texts in the place of those they were made from. A sealed text exists once, so it names its row; one that
 * was wiped meanwhile stays wiped.
 */
export async function replaceSealed(
  tx: Transaction,
  { table, column }: SealedField,
  values: readonly Resealed[],
): Promise<void> {
  for (let from = 0; from < values.length; from += AT_ONCE) {
    const some = values.slice(from, from + AT_ONCE);
    await tx`
      update ${tx(table)} set ${tx(column)} = resealed.after
      from unnest(${some.map((one) => one.from)}::text[], ${some.map((one) => one.to)}::text[])
        as resealed (before, after)
      where ${tx(column)} = resealed.before`;
  }
}

/** Empties a field everywhere. @returns whose values they were, in order */
export async function wipeSealed(
  tx: Transaction,
  { table, column, owner, setAt }: (typeof SEALED_FIELDS)[number],
): Promise<readonly string[]> {
  const rows = await tx<{ owner: string }[]>`
    update ${tx(table)} set ${tx(column)} = null ${setAt === null ? tx`` : tx`, ${tx(setAt)} = null`}
    where ${tx(column)} is not null
    returning ${tx.unsafe(owner)} as owner`;
  return rows.map((row) => row.owner).sort();
}

/** The columns in which an owner keeps its proxy: `proxy`, and the sealed `proxy_password` with its time. */
export interface ProxyRow {
  readonly proxy: ProxyFields;
  readonly proxy_password: Sealed | null;
  readonly proxy_password_at: Micros | null;
}

type ProxyPasswordField = Extract<SealedFieldName, `${string}proxy_password`>;

/** What the password's columns hold after a change; the value is sealed for its owner. */
export function changedPassword(
  sealer: Sealer,
  place: { readonly field: ProxyPasswordField; readonly owner: string; readonly at: Micros },
  change: PasswordChange,
  current: Pick<ProxyRow, 'proxy_password' | 'proxy_password_at'>,
): Pick<ProxyRow, 'proxy_password' | 'proxy_password_at'> {
  if (change.kind === 'keep') return current;
  if (change.kind === 'clear') return { proxy_password: null, proxy_password_at: null };
  const sealed = sealer.seal(place.field, place.owner, change.password);
  return { proxy_password: sealed, proxy_password_at: place.at };
}

/** Whether a change touches the stored password: setting it counts even with the same value. */
export function changesPassword(change: PasswordChange, current: Pick<ProxyRow, 'proxy_password'>): boolean {
  if (change.kind === 'set') return true;
  return change.kind === 'clear' && current.proxy_password !== null;
}
