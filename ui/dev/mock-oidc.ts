/** The settings of single sign-on, kept while the mock runs. */
import type { OidcCheck, OidcSettings, OidcSettingsInput } from '../src/api/organization.ts';
import type { MockAnswer, MockRequest } from './mock-api.ts';

type Handler = (request: MockRequest, params: readonly string[]) => MockAnswer;

const ISSUER = 'https://id.example.org/realms/staff';
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const SETTINGS: OidcSettings = {
  ...{ enabled: true, display_name: 'Example SSO', issuer_url: ISSUER, client_id: 'tocsin' },
  ...{ client_secret_status: { set: true, updated_at: '2026-10-01T08:00:00Z' } },
  ...{ client_secret_expires_on: inDays(9), scopes: ['profile', 'email'], groups_claim: 'groups' },
  group_mappings: [
    { group: 'platform-admins', role: 'admin' },
    { group: 'on-call', role: 'responder' },
    { group: 'engineering', role: 'viewer' },
  ],
  ...{ unmatched_role: 'none', sync_role: true, skip_totp_with_idp_mfa: true },
  proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
  warnings: [
    { kind: 'groups_claim_missing' },
    { kind: 'secret_expiring', expires_on: inDays(9) },
    {
      kind: 'last_admin_kept',
      user: { id: 'SR000000000001', name: 'Ada Lovelace', login: 'ada', deactivated: false },
      role: 'viewer',
    },
  ],
  ...{ updated_at: '2026-10-01T08:00:00Z', etag: '"4"' },
};

const CHECKED: OidcCheck = {
  ...{ ok: true, via: 'direct', latency_ms: 84, issuer: ISSUER, error: null, warnings: [] },
  authorization_endpoint: `${ISSUER}/protocol/openid-connect/auth`,
  token_endpoint: `${ISSUER}/protocol/openid-connect/token`,
  jwks_uri: `${ISSUER}/protocol/openid-connect/certs`,
};

export function mockOidc(): Record<string, Handler> {
  let settings = SETTINGS;
  return {
    'GET /oidc-settings': () => ({ status: 200, body: settings, etag: settings.etag }),
    'PUT /oidc-settings': ({ body }) => {
      const { client_secret: _, proxy, ...fields } = body as OidcSettingsInput;
      const etag = `"${Number(settings.etag.slice(1, -1)) + 1}"`;
      settings = { ...settings, ...fields, proxy: { ...settings.proxy, enabled: proxy.enabled }, etag };
      return { status: 200, body: settings, etag };
    },
    'POST /oidc-settings/checks': () => ({ status: 200, body: CHECKED }),
    'POST /me/oidc-identity': () => ({ status: 201, body: { authorization_url: '/profile' } }),
  };
}
