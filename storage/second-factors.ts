/** Second factors of users as they are stored: seeds sealed, recovery codes hashed (access §5). */
import type { Proof, SecondFactor } from '../actors/access/second-factor.ts';
import type { Micros } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Keyring, Sealed } from '../runtime/secrets/keyring.ts';
import type { Transaction } from './records.ts';

export interface SecondFactorRow {
  totp_seed: Sealed | null;
  totp_pending_seed: Sealed | null;
  totp_enrolled_at: Micros | null;
  totp_last_step: number | null;
  totp_recovery_codes: readonly string[];
}

/** A sealed value that none of the held keys opens; the log names the field and its owner. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
}

export interface Seeds {
  readonly keyring: Pick<Keyring, 'open'>;
  readonly log: Log;
}

/** @throws {SecretUnreadableError} */
export function secondFactorOf(seeds: Seeds, id: PublicId, row: SecondFactorRow): SecondFactor | null {
  const { totp_seed: sealed, totp_enrolled_at: enrolledAt } = row;
  if (sealed === null || enrolledAt === null) return null;
  return {
    seed: openSeed(seeds, 'user.totp_seed', id, sealed),
    enrolledAt,
    lastStep: row.totp_last_step,
    recoveryCodes: row.totp_recovery_codes,
  };
}

/** @throws {SecretUnreadableError} */
export function openSeed(
  { keyring, log }: Seeds,
  field: 'user.totp_seed' | 'user.totp_pending_seed',
  owner: PublicId,
  sealed: Sealed,
): Uint8Array {
  const opened = keyring.open(field, owner, sealed);
  if (opened.ok) return Buffer.from(opened.value, 'base64');
  log('secret_unreadable', { field, owner, key_id: opened.keyId });
  throw new SecretUnreadableError(`${field} of ${owner} does not open`);
}

/** Uses a right code up, so that it counts once on all replicas. @returns false when another attempt was faster */
export async function consumeProof(tx: Transaction, id: PublicId, proof: Proof): Promise<boolean> {
  const used =
    proof.kind === 'totp'
      ? await tx`
          update users set totp_last_step = ${proof.step}
          where id = ${id}
            and totp_enrolled_at = ${proof.enrolledAt}
            and (totp_last_step is null or totp_last_step < ${proof.step})`
      : await tx`
          update users set totp_recovery_codes = array_remove(totp_recovery_codes, ${proof.hash})
          where id = ${id} and ${proof.hash} = any(totp_recovery_codes)`;
  return used.count > 0;
}

/** Seed, pending seed and recovery codes are gone. @returns whether a second factor was confirmed or begun */
export async function wipeSecondFactor(tx: Transaction, id: PublicId): Promise<boolean> {
  const wiped = await tx`
    update users set
      totp_seed = null,
      totp_enrolled_at = null,
      totp_last_step = null,
      totp_pending_seed = null,
      totp_recovery_codes = '{}'
    where id = ${id} and (totp_seed is not null or totp_pending_seed is not null)`;
  return wiped.count > 0;
}
