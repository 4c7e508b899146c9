/** What people store about themselves, in Postgres. */
import type { People } from '../actors/access/people.ts';
import { createOwnPasswords } from './own-password.ts';
import { createProfiles } from './own-profile.ts';
import { createPasswordLinks } from './password-links.ts';
import { createTotpEnrolments, type TotpEnrolmentDeps } from './totp-enrolments.ts';

export function createPeople(deps: TotpEnrolmentDeps): People {
  const { sql, appendAudit } = deps;
  return {
    profiles: createProfiles(sql, appendAudit),
    ownPasswords: createOwnPasswords(sql, appendAudit),
    passwordLinks: createPasswordLinks(sql, appendAudit),
    enrolments: createTotpEnrolments(deps),
  };
}
