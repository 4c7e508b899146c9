/** The columns in which an owner keeps its proxy: `proxy`, and the sealed `proxy_password` with its time. */
import type { PasswordChange, ProxyFields } from '../actors/proxy/proxy-config.ts';
import type { Micros } from '../runtime/clock.ts';
import type { Sealed, Sealer } from '../runtime/secrets/keyring.ts';
import type { SealedFieldName } from '../runtime/secrets/sealed-fields.ts';

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
