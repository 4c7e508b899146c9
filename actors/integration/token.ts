/** Integration tokens: what senders show with every Snapshot and Heartbeat (ingestion §2.3). */
import { hash } from 'node:crypto';

const PREFIX = 'svc_int_';
const RANDOM_BYTES = 32;

/** A new value: the prefix and 256 random bits in unpadded base64url. Shown once, kept nowhere. */
export function newIntegrationToken(random: (size: number) => Uint8Array): string {
  return PREFIX + Buffer.from(random(RANDOM_BYTES)).toString('base64url');
}

/** What is stored of a token. */
export function tokenHash(value: string): Buffer {
  return hash('sha256', value, 'buffer');
}
