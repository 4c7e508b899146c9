/** What people manage of their own second factor. Implemented in storage/totp-enrolments.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { ThrottleKeys } from './ports.ts';
import type { Proof } from './second-factor.ts';

export interface TotpStatus {
  /** Null while no second factor is confirmed. */
  readonly enrolledAt: Micros | null;
  readonly isPending: boolean;
  readonly recoveryCodesRemaining: number;
}

export interface Confirmation {
  readonly userId: PublicId;
  /** Becomes active, if it waited for this. */
  readonly sessionId: PublicId;
  readonly seed: Uint8Array;
  /** Of the code; used up by it. */
  readonly step: number;
  /** PHC strings. */
  readonly recoveryCodes: readonly string[];
  readonly attempt: ThrottleKeys;
}

export interface TotpEnrolments {
  status(userId: PublicId): Promise<TotpStatus>;
  /** Replaces an earlier pending seed. @returns false when a second factor is confirmed already */
  begin(userId: PublicId, seed: Uint8Array): Promise<boolean>;
  /** The seed that waits for its first code; null when none does. @throws when it does not open */
  pendingSeed(userId: PublicId): Promise<Uint8Array | null>;
  /** `superseded`: another enrolment was begun or confirmed meanwhile. */
  confirm(confirmation: Confirmation, author: Authorship): Promise<'confirmed' | 'superseded'>;
  /** Replaces all that were not used. @returns false when another attempt used the code up */
  replaceRecoveryCodes(
    codes: { readonly userId: PublicId; readonly proof: Proof; readonly recoveryCodes: readonly string[] },
    attempt: ThrottleKeys,
    author: Authorship,
  ): Promise<boolean>;
  /** @param proof null when the password proved who asks. @returns false when another attempt used the code up */
  remove(userId: PublicId, proof: Proof | null, attempt: ThrottleKeys, author: Authorship): Promise<boolean>;
}
