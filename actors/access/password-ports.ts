/** What setting passwords needs from storage. Implemented in storage/password-links.ts and storage/own-password.ts. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Authorship } from '../audit.ts';
import type { ThrottleKeys } from './ports.ts';

/** Whether a link may be used: refusals are judged in this order (access §4.2). */
export type LinkStanding = 'unknown' | 'link_used' | 'link_expired' | 'usable';

export interface PasswordLinks {
  standing(hash: Uint8Array, now: Micros): Promise<LinkStanding>;
  /** Sets the password, ends the user's sessions and uses the link up; judges it again. */
  complete(
    hash: Uint8Array,
    passwordHash: string,
    at: Micros,
    address: string,
  ): Promise<Exclude<LinkStanding, 'usable'> | 'completed'>;
}

export interface NewPassword {
  readonly userId: PublicId;
  /** What the present password was compared with. */
  readonly replaces: string;
  readonly passwordHash: string;
  /** Stays, while the user's other sessions end. */
  readonly sessionId: PublicId;
  readonly attempt: ThrottleKeys;
}

export interface OwnPasswords {
  /** Null for an account that has none, or signs in through the provider. */
  hashOf(userId: PublicId): Promise<string | null>;
  /** @returns false when the password that it replaces is not the present one any more */
  change(password: NewPassword, author: Authorship): Promise<boolean>;
}
