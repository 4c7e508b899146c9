import { base32 } from '../../runtime/base32.ts';

/** 128 bits are 25.6 characters: the padding byte completes the last one. */
const RANDOM_BYTES = 16;
const CHARACTERS = 26;

/**
 * Makes a `webhook-id`: `msg_` and the base32 (lower case, unpadded) of 16 random bytes (webhooks §3.1). One per event
 * and Destination, kept across every retry.
 */
export function newEventId(random: (size: number) => Uint8Array): string {
  const padded = new Uint8Array(RANDOM_BYTES + 1);
  padded.set(random(RANDOM_BYTES));
  return `msg_${base32(padded).slice(0, CHARACTERS)}`;
}
