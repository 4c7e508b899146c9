/** Links that set a password, shown once (access §4.2). */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { SETUP_LINK_LIFETIME } from '../../actors/access/password-policy.ts';
import type { NewSetupLink } from '../../actors/access/user-ports.ts';
import { formatInstant, type Micros } from '../../runtime/clock.ts';

export const SetupLinkShape = v.object({ url: v.string(), expires_at: v.string() });

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

export interface SetupLinkMaking {
  /** SVC_PUBLIC_URL. */
  readonly publicUrl: string;
  readonly random: (size: number) => Uint8Array;
}

/** What is stored of a new link, and what is shown of it. The token stands behind the `#`: browsers send it nowhere. */
export function newSetupLink(
  { publicUrl, random }: SetupLinkMaking,
  now: Micros,
): NewSetupLink & { readonly shape: v.InferOutput<typeof SetupLinkShape> } {
  const token = Buffer.from(random(TOKEN_BYTES)).toString('base64url');
  const expiresAt = now + SETUP_LINK_LIFETIME;
  const url = `${publicUrl}/password-setup#token=${token}`;
  return { hash: hashOf(token), expiresAt, shape: { url, expires_at: formatInstant(expiresAt) } };
}

/** The hash under which a token is stored; null when it is not one that this service makes. */
export function setupLinkHash(token: string): Buffer | null {
  return TOKEN.test(token) ? hashOf(token) : null;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
