/** Whether a pushed event is from the bridge that it names (bridge protocol §5, bridge §7.3). Pure. */
import { createHmac } from 'node:crypto';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { equalSecrets } from '../../../runtime/secrets/constant-time.ts';
import { EVENT_ID } from './parts.ts';

/** `bridge.push_tolerance`. */
const TOLERANCE: Micros = 300 * SECOND;
/** Signatures of one request that are looked at. */
const MOST_SIGNATURES = 10;
const TIMESTAMP = /^[0-9]{1,12}$/;
const PREFIX = 'whsec_';
const SECRET = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
const LEAST_BYTES = 24;

/** What an unknown Connection is compared with, so that it costs the same. */
const NO_SECRET = `${PREFIX}${Buffer.alloc(32).toString('base64')}`;

export interface PushHeaders {
  readonly id: string | null;
  readonly timestamp: string | null;
  readonly signature: string | null;
}

/** Whether a text can be a push secret: `whsec_` and the base64 of at least 24 bytes. */
export function isPushSecret(text: string): boolean {
  if (!SECRET.test(text)) return false;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= LEAST_BYTES && bytes.toString('base64') === encoded;
}

export type PushProof =
  | { readonly is: 'authentic'; readonly id: string }
  | { readonly is: 'signature_invalid' | 'timestamp_out_of_range' };

const UNPROVEN: PushProof = { is: 'signature_invalid' };

/**
 * Whether a request is from who knows the secret, and of now. The work is the same whether or not there is a secret.
 * @param secret null: no Connection that takes pushed events
 * @param body as it came
 */
export function provePush(
  headers: PushHeaders,
  body: Uint8Array,
  secret: string | null,
  now: Micros,
): PushProof {
  const { id, timestamp, signature } = headers;
  if (id === null || timestamp === null || signature === null) return UNPROVEN;
  if (!EVENT_ID.test(id) || !TIMESTAMP.test(timestamp)) return UNPROVEN;
  const expected = signed(secret ?? NO_SECRET, id, timestamp, body);
  const given = signature.split(' ').slice(0, MOST_SIGNATURES);
  // Every one is compared before anything is decided.
  const matches = given.map((one) => equalSecrets(one, expected));
  const isInTime = Math.abs(Number(timestamp) * SECOND - now) <= TOLERANCE;
  if (secret === null || !matches.includes(true)) return UNPROVEN;
  return isInTime ? { is: 'authentic', id } : { is: 'timestamp_out_of_range' };
}

function signed(secret: string, id: string, timestamp: string, body: Uint8Array): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${mac.digest('base64')}`;
}
