import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares two secrets in time that depends on neither: digests first, so that lengths do not show (secrets §8). */
export function equalSecrets(a: string | Uint8Array, b: string | Uint8Array): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(value: string | Uint8Array): Buffer {
  return createHash('sha256').update(value).digest();
}
