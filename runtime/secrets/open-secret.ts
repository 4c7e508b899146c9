/** Opens a stored value for one operation; one that does not open is a mistake of the configuration (secrets §3.5). */
import type { Log } from '../log.ts';
import type { Keyring, Sealed } from './keyring.ts';
import type { SealedFieldName } from './sealed-fields.ts';

export interface Opener {
  readonly keyring: Pick<Keyring, 'open'>;
  readonly log: Log;
}

/** Null when none of the held keys opens it; the log then names field, owner and key. */
export function openSecret(
  { keyring, log }: Opener,
  field: SealedFieldName,
  owner: string,
  sealed: Sealed,
): string | null {
  const opened = keyring.open(field, owner, sealed);
  if (opened.ok) return opened.value;
  log('secret_unreadable', { field, owner, key_id: opened.keyId });
  return null;
}
