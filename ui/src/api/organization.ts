/** The Organization's settings, severities that arrive, and where the service may connect to (api §9). */
import type { Answer, ApiClient } from './client.ts';
import type { ProxyConfig, ProxyInput } from './connections.ts';
import type { Instant, SeverityLevel } from './shapes.ts';

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

interface Settings {
  readonly name: string;
  readonly time_zone: string;
  readonly workday_start: string;
  readonly week_start: (typeof WEEKDAYS)[number];
  readonly severity_label: string;
  readonly severity_mapping: readonly { readonly value: string; readonly level: SeverityLevel }[];
  readonly severity_styles: readonly {
    readonly level: SeverityLevel;
    readonly emoji: string;
    readonly color: string;
  }[];
  readonly critical_is_urgent: boolean;
  readonly instance_labels: readonly string[];
  readonly retention: Readonly<Record<(typeof RETENTIONS)[number], number>>;
  readonly totp_required: (typeof TOTP_POLICIES)[number];
  readonly oidc_token_grace_seconds: number;
}

export interface OrganizationSettings extends Settings {
  readonly id: string;
  readonly outgoing_heartbeat: {
    readonly url_status: { readonly set: boolean; readonly updated_at: Instant | null };
    readonly proxy: ProxyConfig;
  };
  readonly etag: string;
}

export interface OrganizationInput extends Settings {
  readonly outgoing_heartbeat: { readonly url?: string | null; readonly proxy: ProxyInput };
}

export interface SeverityValue {
  readonly value: string;
  readonly count: number;
  readonly level: SeverityLevel;
  readonly mapped: boolean;
}

export interface SeverityValues {
  readonly items: readonly SeverityValue[];
  readonly window_days: number;
}

export interface OutboundPolicyInput {
  readonly policy: 'standard' | 'strict';
  readonly allowed: readonly string[];
  readonly denied: readonly string[];
}

export interface OutboundPolicy extends OutboundPolicyInput {
  readonly always_blocked: readonly string[];
  readonly etag: string;
}

export type OrganizationApi = ReturnType<typeof createOrganizationApi>;

export function createOrganizationApi(client: ApiClient) {
  return {
    read: (): Promise<Answer<OrganizationSettings>> => client.get('/organization'),
    update: (body: OrganizationInput, ifMatch: string): Promise<Answer<OrganizationSettings>> =>
      client.put('/organization', { body, ifMatch }),
    severityValues: (): Promise<Answer<SeverityValues>> => client.get('/organization/severity-values'),
    readPolicy: (): Promise<Answer<OutboundPolicy>> => client.get('/organization/outbound-policy'),
    updatePolicy: (body: OutboundPolicyInput, ifMatch: string): Promise<Answer<OutboundPolicy>> =>
      client.put('/organization/outbound-policy', { body, ifMatch }),
  };
}
