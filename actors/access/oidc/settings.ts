/** How people sign in through an identity provider: the settings as they are stored (access §6.1). */
import { DAY, type Micros, parseInstant } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Sealed } from '../../../runtime/secrets/keyring.ts';
import type { InternalAlertChange } from '../../internal-alerts/registry.ts';
import type { ProxyFields } from '../../proxy-config.ts';
import type { RoleName } from '../user.ts';

/** What the settings' secrets are sealed for, and the name under which their sockets are kept. */
export const OIDC_OWNER = 'oidc';

/** The writable fields, in the API's own keys; the secrets aside. */
export interface OidcFields {
  readonly enabled: boolean;
  /** Empty: the host of the issuer. */
  readonly display_name: string;
  /** Empty before the first save. */
  readonly issuer_url: string;
  readonly client_id: string;
  /** `YYYY-MM-DD`. */
  readonly client_secret_expires_on: string | null;
  /** Without those that are always asked for. */
  readonly scopes: readonly string[];
  readonly groups_claim: string;
  readonly group_mappings: readonly GroupMapping[];
  readonly unmatched_role: 'none' | 'viewer' | 'responder';
  /** Whether the provider decides the Role at every sign-in, or only at the first. */
  readonly sync_role: boolean;
  readonly skip_totp_with_idp_mfa: boolean;
  readonly proxy: ProxyFields;
}

export interface GroupMapping {
  readonly group: string;
  readonly role: RoleName;
}

export interface StoredOidcSettings {
  /** 0 before the first save. */
  readonly version: number;
  readonly fields: OidcFields;
  readonly updatedAt: Micros | null;
  /** Null for a public client. */
  readonly clientSecret: Sealed | null;
  readonly clientSecretAt: Micros | null;
  readonly proxyPassword: Sealed | null;
  readonly proxyPasswordAt: Micros | null;
  /** The provider said nothing of groups when it was last asked. */
  readonly groupsClaimMissing: boolean;
}

const ALWAYS_ASKED = ['openid', 'offline_access'] as const;

/** The scopes of a request to the provider, as sent. */
export function requestedScope({ scopes }: Pick<OidcFields, 'scopes'>): string {
  return [...new Set(['openid', ...scopes, 'offline_access'])].join(' ');
}

/** As they are stored: repeats and what is asked for anyway are dropped. */
export function storedScopes(scopes: readonly string[]): readonly string[] {
  const always: readonly string[] = ALWAYS_ASKED;
  return [...new Set(scopes)].filter((scope) => !always.includes(scope));
}

/** What the button to sign in says. */
export function displayName({ display_name, issuer_url }: OidcFields): string {
  return display_name === '' ? new URL(issuer_url).host : display_name;
}

/** Which Role the groups of a person give (access §6.4 step 10). */
const HIGHEST_FIRST: readonly RoleName[] = ['admin', 'responder', 'viewer'];

/** The highest Role of the matching mappings, whatever their order; null refuses the person. */
export function roleOf(
  { group_mappings, unmatched_role }: Pick<OidcFields, 'group_mappings' | 'unmatched_role'>,
  groups: readonly string[],
): RoleName | null {
  const given = new Set(group_mappings.filter(({ group }) => groups.includes(group)).map(({ role }) => role));
  const highest = HIGHEST_FIRST.find((role) => given.has(role));
  if (highest) return highest;
  return unmatched_role === 'none' ? null : unmatched_role;
}

/** `oidc.secret_expiry_lead`. */
const EXPIRY_LEAD: Micros = 14 * DAY;

/** Whether less than two weeks are left; so it stays once the date has passed. */
export function isSecretExpiring(
  { client_secret_expires_on: date }: Pick<OidcFields, 'client_secret_expires_on'>,
  now: Micros,
): boolean {
  const end = date === null ? null : parseInstant(`${date}T00:00:00Z`);
  return end !== null && end - now < EXPIRY_LEAD;
}

/** How SvcOIDCSecretExpiring stands at `now`. */
export function expiryCondition(fields: OidcFields, now: Micros): InternalAlertChange {
  const { client_secret_expires_on: date } = fields;
  const about = { name: 'SvcOIDCSecretExpiring', entity: null, at: now } as const;
  if (date === null || !fields.enabled || !isSecretExpiring(fields, now)) {
    return { change: 'resolve', ...about };
  }
  return { change: 'raise', date, ...about };
}

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
