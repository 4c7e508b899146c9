/** Signatures of events-mode requests, in the style of Standard Webhooks (seed 3 §5, webhooks §5). */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** A new signing secret: `whsec_` and the padded base64 of 32 random bytes. */
export function newSigningSecret(random: (size: number) => Uint8Array): string {
  return PREFIX + Buffer.from(random(32)).toString('base64');
}

/**
 * The value of `webhook-signature`: one `v1,<base64>` for each secret, in the order given (the current one first).
 * @param timestamp Unix seconds of the attempt
 */
export function webhookSignature(
  secrets: readonly string[],
  eventId: string,
  timestamp: number,
  body: Uint8Array,
): string {
  return secrets
    .map((secret) => {
      const mac = createHmac('sha256', signingKey(secret)).update(`${eventId}.${timestamp}.`).update(body);
      return `v1,${mac.digest('base64')}`;
    })
    .join(' ');
}

function signingKey(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
