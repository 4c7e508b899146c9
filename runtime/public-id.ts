import { randomFillSync } from 'node:crypto';

/** A public identifier: two letters for the type and 12 characters of Crockford base32 (60 random bits). */
export type PublicId = string & { readonly __publicId: unique symbol };

/** The type prefixes in use; the meaning of each is in docs/api.md. */
export type IdPrefix =
  | 'AE'
  | 'AG'
  | 'AK'
  | 'AR'
  | 'CN'
  | 'DE'
  | 'DS'
  | 'KR'
  | 'NE'
  | 'NK'
  | 'NT'
  | 'PT'
  | 'RG'
  | 'RN'
  | 'RQ'
  | 'RT'
  | 'SA'
  | 'SN'
  | 'SR'
  | 'SS'
  | 'ST'
  | 'TB'
  | 'TE'
  | 'VW';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const PATTERN = /^[A-HJKMNP-TV-Za-hjkmnp-tv-z]{1,2}[0-9A-TV-Za-tv-z]{12}$/;

let pool: ReturnType<typeof createRandomPool> | null = null;

/** Makes an id; `bytes` supplies randomness and is replaced by a seeded source in the simulation. */
export function newPublicId(prefix: IdPrefix, bytes?: (size: number) => Uint8Array): PublicId {
  pool ??= createRandomPool();
  const random = (bytes ?? pool)(12);
  let text: string = prefix;
  for (const byte of random) text += ALPHABET[byte & 31];
  return text as PublicId;
}

/** Reads an id as people type it: any case, `O` for 0, `I` and `L` for 1. Null when it is not of the form. */
export function parsePublicId(text: string): PublicId | null {
  if (!PATTERN.test(text)) return null;
  const upper = text.toUpperCase();
  const rest = upper.slice(-12).replaceAll('O', '0').replaceAll('I', '1').replaceAll('L', '1');
  return (upper.slice(0, -12) + rest) as PublicId;
}

/** Whether a (normalised) id is of one type. */
export function hasPrefix(id: PublicId, prefix: IdPrefix): boolean {
  return id.length === 14 && id.startsWith(prefix);
}

const BASE32_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 base32 in lower case without padding: five bits a character. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32_ALPHABET.charAt((held >>> bits) & 31);
    }
    held &= (1 << bits) - 1;
  }
  return text;
}

const POOL_BYTES = 8_192;

/**
 * Secure random bytes, drawn from the system many at a time: for ids made thousands of times a second. What it gives
 * is never given again.
 */
export function createRandomPool(): (size: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  return (size) => {
    if (used + size > POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    used += size;
    return pool.slice(used - size, used);
  };
}
