/** Single sign-on: its settings, and the link of one's own account (api §4, §6). */
import type { RoleName } from './access.ts';
import type { Answer, ApiClient } from './client.ts';
import type { ProxyConfig, ProxyInput } from './connections.ts';
import type { UserRef } from './shapes.ts';

interface SecretStatus {
  readonly set: boolean;
  readonly updated_at: string | null;
}

export interface GroupMapping {
  readonly group: string;
  readonly role: RoleName;
}

interface Settings {
  readonly enabled: boolean;
  readonly display_name?: string;
  readonly issuer_url: string;
  readonly client_id: string;
  readonly client_secret_expires_on: string | null;
  readonly scopes: readonly string[];
  readonly groups_claim: string;
  readonly group_mappings: readonly GroupMapping[];
  readonly unmatched_role: 'none' | 'viewer' | 'responder';
  readonly sync_role: boolean;
  readonly skip_totp_with_idp_mfa: boolean;
}

export interface OidcWarning {
  readonly kind: string;
  readonly expires_on?: string;
  readonly user?: UserRef;
  readonly role?: RoleName;
}

export interface OidcSettings extends Settings {
  readonly client_secret_status: SecretStatus;
  readonly proxy: ProxyConfig;
  readonly warnings: readonly OidcWarning[];
  readonly updated_at: string | null;
  readonly etag: string;
}

export interface OidcSettingsInput extends Settings {
  readonly display_name: string;
  /** Left out: what is stored stays. */
  readonly client_secret?: string;
  readonly proxy: ProxyInput;
}

export interface OidcCheck {
  readonly ok: boolean;
  readonly via: string;
  readonly latency_ms: number | null;
  readonly issuer: string | null;
  readonly authorization_endpoint: string | null;
  readonly token_endpoint: string | null;
  readonly jwks_uri: string | null;
  readonly error: string | null;
  readonly warnings: readonly OidcWarning[];
}

export type OidcApi = ReturnType<typeof createOidcApi>;

export function createOidcApi(client: ApiClient) {
  return {
    read: (): Promise<Answer<OidcSettings>> => client.get('/oidc-settings'),
    update: (body: OidcSettingsInput, ifMatch: string): Promise<Answer<OidcSettings>> =>
      client.put('/oidc-settings', { body, ifMatch }),
    check: (): Promise<Answer<OidcCheck>> => client.post('/oidc-settings/checks'),
    link: (): Promise<Answer<{ readonly authorization_url: string }>> => client.post('/me/oidc-identity'),
  };
}
