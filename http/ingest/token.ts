import { hash } from 'node:crypto';

/** `svc_int_` and 32 bytes in unpadded base64url (ingestion §2.3). */
const INTEGRATION_TOKEN = /^svc_int_[A-Za-z0-9_-]{43}$/;

/** Whether a text has the form of an Integration token; anything else needs no look-up to be refused. */
export function isIntegrationToken(text: string): boolean {
  return INTEGRATION_TOKEN.test(text);
}

const BEARER = /^bearer +([^ ]+) *$/i;

/** The credential of an `Authorization` header with the scheme Bearer, in any case; null for anything else. */
export function bearerToken(header: string): string | null {
  return BEARER.exec(header)?.[1] ?? null;
}

const HASHES = 1_000;

/** SHA-256 of tokens; the ones a sender keeps sending are hashed once. */
export function createTokenHashes(): (token: string) => Uint8Array {
  const hashes = new Map<string, Uint8Array>();
  return (token) => {
    const known = hashes.get(token);
    if (known !== undefined) return known;
    if (hashes.size >= HASHES) hashes.clear();
    const hashed = hash('sha256', token, 'buffer');
    hashes.set(token, hashed);
    return hashed;
  };
}
