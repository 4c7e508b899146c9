/** Everything that people store about themselves. Implemented in storage/people.ts; faked in tests of the HTTP layer. */
import type { OwnPasswords, PasswordLinks } from './password-ports.ts';
import type { Profiles } from './profile-ports.ts';
import type { TotpEnrolments } from './totp-ports.ts';

export interface People {
  readonly profiles: Profiles;
  readonly ownPasswords: OwnPasswords;
  readonly passwordLinks: PasswordLinks;
  readonly enrolments: TotpEnrolments;
}
