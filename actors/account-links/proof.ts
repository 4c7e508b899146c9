/** Tokens and codes that prove whose account it is (account links §3). Only their digests are kept. */
import { createHash } from 'node:crypto';

const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const CODE_LENGTH = 8;
/** The largest multiple of the alphabet's size that fits into a byte: bytes from there on would favour its beginning. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length);

/** 43 characters of unpadded base64url. */
export function newToken(random: (size: number) => Uint8Array): string {
  return Buffer.from(random(32)).toString('base64url');
}

/** 8 characters, each as likely as the others. */
export function newCode(random: (size: number) => Uint8Array): string {
  let code = '';
  while (code.length < CODE_LENGTH) {
    for (const byte of random(CODE_LENGTH)) {
      if (byte < FAIR_BYTES && code.length < CODE_LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}

/** A code as people type it: any case, with spaces and hyphens. */
export function typedCode(text: string): string {
  return text.replaceAll(/[\s-]/g, '').toUpperCase();
}

export function digestOf(proof: string): Buffer {
  return createHash('sha256').update(proof).digest();
}
