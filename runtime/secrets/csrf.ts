/** CSRF tokens are derived from the session and a key, never stored (secrets §3.3). */
import { createHmac } from 'node:crypto';
import { equalSecrets } from './constant-time.ts';
import type { Keyring } from './keyring.ts';

/** The token of a session, `<key id>.<base64url MAC>`, made with the active key. `session` is the raw session value. */
export function csrfToken(keyring: Keyring, session: Uint8Array): string {
  return tokenOf(keyring, keyring.activeKeyId, session) ?? unreachable(keyring.activeKeyId);
}

/** Whether `token` belongs to the session, under any key that is still held. */
export function verifyCsrfToken(keyring: Keyring, session: Uint8Array, token: string): boolean {
  const keyId = token.slice(0, Math.max(0, token.indexOf('.')));
  const expected = tokenOf(keyring, keyId, session);
  return expected !== null && equalSecrets(expected, token);
}

function tokenOf(keyring: Keyring, keyId: string, session: Uint8Array): string | null {
  const key = keyring.subKey(keyId, 'csrf');
  return key && `${keyId}.${createHmac('sha256', key).update(session).digest('base64url')}`;
}

function unreachable(keyId: string): never {
  throw new Error(`The active key ${keyId} is not held.`);
}
