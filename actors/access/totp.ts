/** Codes of authenticator apps: RFC 6238 with SHA-1, six digits, steps of 30 s (access §5). */
import { ScureBase32Plugin, verifySync } from 'otplib';
import { type Micros, SECOND } from '../../runtime/clock.ts';

export const TOTP_SEED_BYTES = 20;
const STEP_S = 30;
/** How many steps the clock of a phone may be off, either way. */
const SKEW = 1;

/**
 * The step whose code was typed, or null for a wrong code. A step that was accepted before, or lies before one that was,
 * is not accepted again.
 * @param last the last accepted step; null when none was
 */
export function acceptedStep(
  seed: Uint8Array,
  typed: string,
  now: Micros,
  last: number | null,
): number | null {
  const token = typed.replaceAll(' ', '');
  if (!/^[0-9]{6}$/.test(token)) return null;
  const epoch = Math.floor(now / SECOND);
  // otplib throws when every step of the window is used up with a step to spare, as after a clock was set back.
  if (last !== null && last >= Math.floor(epoch / STEP_S) + SKEW) return null;
  const window = { epoch, epochTolerance: SKEW * STEP_S, ...(last !== null && { afterTimeStep: last }) };
  const verified = verifySync({ strategy: 'totp', secret: seed, period: STEP_S, token, ...window });
  return verified.valid && 'timeStep' in verified ? verified.timeStep : null;
}

/** What an authenticator app reads from the QR code. Ours: otplib leaves the colons of a login unescaped. */
export function otpauthUri(login: string, seed: Uint8Array): string {
  return `otpauth://totp/Tocsin:${encodeURIComponent(login)}?secret=${base32(seed)}&issuer=Tocsin`;
}

/** RFC 4648 without padding. */
export function base32(bytes: Uint8Array): string {
  return new ScureBase32Plugin().encode(bytes);
}
