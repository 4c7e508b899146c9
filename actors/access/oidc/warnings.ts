/** What an Admin should know about the settings (access §6.1). */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { RoleName } from '../user.ts';
import { isSecretExpiring } from './secret-expiry.ts';
import type { StoredOidcSettings } from './settings.ts';

/** The last active Admin keeps a Role that the provider would take. */
export interface WithheldRole {
  readonly user: { readonly id: PublicId; readonly name: string; readonly login: string };
  /** What the provider wanted. */
  readonly role: RoleName;
}

export type OidcWarning =
  | { readonly kind: 'nobody_can_sign_in' | 'groups_claim_missing' }
  | { readonly kind: 'secret_expiring'; readonly expiresOn: string }
  | ({ readonly kind: 'last_admin_kept' } & WithheldRole);

export function oidcWarnings(
  { fields, groupsClaimMissing }: StoredOidcSettings,
  withheld: readonly WithheldRole[],
  now: Micros,
): readonly OidcWarning[] {
  const { client_secret_expires_on: expiresOn } = fields;
  const admitsNobody = fields.group_mappings.length === 0 && fields.unmatched_role === 'none';
  return [
    ...(admitsNobody ? [{ kind: 'nobody_can_sign_in' } as const] : []),
    ...(groupsClaimMissing ? [{ kind: 'groups_claim_missing' } as const] : []),
    ...(expiresOn !== null && isSecretExpiring(fields, now)
      ? [{ kind: 'secret_expiring', expiresOn } as const]
      : []),
    ...(fields.sync_role ? withheld.map((kept) => ({ kind: 'last_admin_kept', ...kept }) as const) : []),
  ];
}
