/** Secrets and signatures of signed requests, sent and received: Standard Webhooks (webhooks §5, bridge §7.3). */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const SECRET = /^whsec_[A-Za-z0-9+/]+={0,2}$/;
const LEAST_BYTES = 24;

/** A new signing secret: `whsec_` and the padded base64 of 32 random bytes. */
export function newSigningSecret(random: (size: number) => Uint8Array): string {
  return PREFIX + Buffer.from(random(32)).toString('base64');
}

/** Whether a text can be a signing secret: `whsec_` and the base64 of at least 24 bytes. */
export function isSigningSecret(text: string): boolean {
  if (!SECRET.test(text)) return false;
  const encoded = text.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length >= LEAST_BYTES && bytes.toString('base64') === encoded;
}

/**
 * The value of `webhook-signature`: one `v1,<base64>` for each secret, in the order given (the current one first).
 * @param timestamp Unix seconds of the attempt, as its header has them
 */
export function webhookSignature(
  secrets: readonly string[],
  eventId: string,
  timestamp: number | string,
  body: Uint8Array,
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      const mac = createHmac('sha256', key).update(`${eventId}.${timestamp}.`).update(body);
      return `v1,${mac.digest('base64')}`;
    })
    .join(' ');
}
