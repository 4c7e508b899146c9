/** How people sign in through an identity provider: the settings as they are stored (seed 2 §2.5, access §6.1). */
import type { Micros } from '../../../runtime/clock.ts';
import type { Sealed } from '../../../runtime/secrets/keyring.ts';
import type { ProxyFields } from '../../proxy/proxy-config.ts';
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

/** What is asked of the provider, as it goes on the wire. */
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
