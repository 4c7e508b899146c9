/** The second factor of a user: a code of an authenticator app, or a recovery code that works once (access §5). */
import type { Micros } from '../../runtime/clock.ts';
import type { StoredOrganization } from './organization.ts';
import type { Passwords } from './passwords.ts';
import { acceptedStep } from './totp.ts';

/** `auth.totp_recovery_codes`. */
export const RECOVERY_CODES = 10;
const RECOVERY_CODE_LENGTH = 10;
const RECOVERY_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** A confirmed second factor. */
export interface SecondFactor {
  readonly seed: Uint8Array;
  readonly enrolledAt: Micros;
  /** Of the last code that was accepted. */
  readonly lastStep: number | null;
  /** PHC strings of those that were not used. */
  readonly recoveryCodes: readonly string[];
}

export interface GivenCodes {
  readonly totpCode: string | null;
  readonly recoveryCode: string | null;
}

/** A right code. It counts once it is used up in the transaction of what it allows; until then another may use it. */
export type Proof =
  | { readonly kind: 'totp'; readonly enrolledAt: Micros; readonly step: number }
  | { readonly kind: 'recovery_code'; readonly hash: string };

/** Whom the Organization asks for a second factor: `local_users` are accounts with a password. */
export function policyCovers(
  policy: StoredOrganization['totp_required'],
  account: { readonly hasPassword: boolean },
): boolean {
  switch (policy) {
    case 'nobody':
      return false;
    case 'local_users':
      return account.hasPassword;
    case 'everyone':
      return true;
  }
}

export function proofByTotp(factor: SecondFactor, code: string, now: Micros): Proof | null {
  const step = acceptedStep(factor.seed, code, now, factor.lastStep);
  return step === null ? null : { kind: 'totp', enrolledAt: factor.enrolledAt, step };
}

/** What the given code proves, the one of the app first; null for a wrong one or none. @throws {HashQueueFullError} */
export async function proofOf(
  passwords: Passwords,
  factor: SecondFactor | null,
  { totpCode, recoveryCode }: GivenCodes,
  now: Micros,
): Promise<Proof | null> {
  if (totpCode !== null) return factor && proofByTotp(factor, totpCode, now);
  return recoveryCode === null ? null : proofByRecoveryCode(passwords, factor, recoveryCode);
}

/**
 * Compares a code with every unused one, and with nothing as often as codes are missing: neither how many are left nor
 * which one was right shows in the time it takes.
 * @param factor null for who has none
 * @throws {HashQueueFullError}
 */
export async function proofByRecoveryCode(
  passwords: Passwords,
  factor: SecondFactor | null,
  typed: string,
): Promise<Proof | null> {
  const code = normalRecoveryCode(typed);
  const hashes = factor?.recoveryCodes ?? [];
  let proof: Proof | null = null;
  for (let index = 0; index < Math.max(RECOVERY_CODES, hashes.length); index++) {
    const hash = hashes[index] ?? null;
    const answer = await passwords.check(hash, code);
    if (hash !== null && answer !== 'wrong') proof = { kind: 'recovery_code', hash };
  }
  return proof;
}

/** New recovery codes, shown as `xxxxx-xxxxx`. */
export function newRecoveryCodes(random: (size: number) => Uint8Array): readonly string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    // 256 is a multiple of 32: every character is as likely as any other.
    const text = Array.from(random(RECOVERY_CODE_LENGTH), (byte) => RECOVERY_ALPHABET[byte & 31]).join('');
    return `${text.slice(0, 5)}-${text.slice(5)}`;
  });
}

/** What is hashed of them, one after the other. @throws {HashQueueFullError} */
export async function hashRecoveryCodes(
  passwords: Passwords,
  codes: readonly string[],
): Promise<readonly string[]> {
  const hashes: string[] = [];
  for (const code of codes) hashes.push(await passwords.hash(normalRecoveryCode(code)));
  return hashes;
}

function normalRecoveryCode(typed: string): string {
  return typed.toLowerCase().replaceAll(/[\s-]/g, '');
}
