/** Codes of authenticator apps: RFC 6238 with SHA-1, six digits, steps of 30 s (access §5). */
import { createHmac } from 'node:crypto';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { equalSecrets } from '../../runtime/secrets/constant-time.ts';

export const TOTP_SEED_BYTES = 20;
const STEP: Micros = 30 * SECOND;
const DIGITS = 6;
/** How many steps the clock of a phone may be off, either way. */
const SKEW = 1;

/** The step that an instant lies in. */
export function totpStep(now: Micros): number {
  return Math.floor(now / STEP);
}

/** The code of a step. */
export function totpCode(seed: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', seed).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

/**
 * The step whose code was typed, or null for a wrong code. A step that was accepted before, or lies before one that was,
 * is not accepted again. All steps are computed before any decides, so that time tells nothing.
 * @param last the last accepted step; null when none was
 */
export function acceptedStep(
  seed: Uint8Array,
  typed: string,
  now: Micros,
  last: number | null,
): number | null {
  const code = typed.replaceAll(' ', '');
  if (!/^[0-9]{6}$/.test(code)) return null;
  const current = totpStep(now);
  const steps = Array.from({ length: 2 * SKEW + 1 }, (_, index) => current - SKEW + index);
  const right = steps.filter((step) => equalSecrets(totpCode(seed, step), code));
  return right.find((step) => last === null || step > last) ?? null;
}

/** What an authenticator app reads from the QR code. */
export function otpauthUri(login: string, seed: Uint8Array): string {
  return `otpauth://totp/Tocsin:${encodeURIComponent(login)}?secret=${base32(seed)}&issuer=Tocsin`;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 without padding. */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32[(held >> bits) & 31];
      held &= (1 << bits) - 1;
    }
  }
  return bits === 0 ? text : text + BASE32[(held << (5 - bits)) & 31];
}
