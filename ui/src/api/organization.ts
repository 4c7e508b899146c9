/** The Organization's settings, severities that arrive, and where the service may connect to (api §9). */
import type { Answer, ApiClient } from './client.ts';
import type { ProxyInput, Schemas } from './shapes.ts';

export const WEEKDAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const;
export const TOTP_POLICIES = ['nobody', 'local_users', 'everyone'] as const;
export const RETENTIONS = [
  'stored_snapshots_days',
  'alert_details_days',
  'alert_group_summaries_days',
  'audit_log_days',
] as const;

export type OrganizationSettings = Schemas['Organization'];

/** The settings as their form holds them. */
export type OrganizationInput = Omit<OrganizationSettings, 'id' | 'outgoing_heartbeat' | 'etag'> & {
  readonly outgoing_heartbeat: { readonly url?: string | null; readonly proxy: ProxyInput };
};

export type SeverityValues = Schemas['SeverityValues'];

export type OutboundPolicyInput = Schemas['OutboundPolicyInput'];

export type OutboundPolicy = Schemas['OutboundPolicy'];

export type OrganizationApi = ReturnType<typeof createOrganizationApi>;

export function createOrganizationApi(client: ApiClient) {
  return {
    read: (): Promise<Answer<OrganizationSettings>> => client.get('/organization'),
    update: (body: Schemas['OrganizationInput'], ifMatch: string): Promise<Answer<OrganizationSettings>> =>
      client.put('/organization', { body, ifMatch }),
    severityValues: (): Promise<Answer<SeverityValues>> => client.get('/organization/severity-values'),
    readPolicy: (): Promise<Answer<OutboundPolicy>> => client.get('/organization/outbound-policy'),
    updatePolicy: (body: OutboundPolicyInput, ifMatch: string): Promise<Answer<OutboundPolicy>> =>
      client.put('/organization/outbound-policy', { body, ifMatch }),
  };
}

export type GroupMapping = Schemas['OidcGroupMapping'];

export type OidcWarning = Schemas['OidcWarning'];

export type OidcSettings = Schemas['OidcSettings'];

/** The settings as their form holds them. */
export type OidcSettingsInput = Omit<
  OidcSettings,
  'client_secret_status' | 'display_name' | 'proxy' | 'warnings' | 'updated_at' | 'etag'
> & {
  readonly display_name: string;
  /** Left out: what is stored stays. */
  readonly client_secret?: string;
  readonly proxy: ProxyInput;
};

export type OidcCheck = Schemas['OidcCheck'];

export type OidcApi = ReturnType<typeof createOidcApi>;

export function createOidcApi(client: ApiClient) {
  return {
    read: (): Promise<Answer<OidcSettings>> => client.get('/oidc-settings'),
    update: (body: Schemas['OidcSettingsInput'], ifMatch: string): Promise<Answer<OidcSettings>> =>
      client.put('/oidc-settings', { body, ifMatch }),
    check: (): Promise<Answer<OidcCheck>> =>
      client.post('/oidc-settings/checks', { long: true, harmless: true }),
    link: (): Promise<Answer<Schemas['StartOidcLinkAnswer']>> =>
      client.post('/me/oidc-identity', { long: true }),
  };
}
