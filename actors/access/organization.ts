/** The Organization's settings: stored and answered in one shape (organization §2). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { OrganizationSettings, Weekday } from '../directory.ts';
import type { SeverityLevel } from '../model.ts';
import type { ProxyFields } from '../proxy-config.ts';

export interface OrganizationRecord {
  readonly id: PublicId;
  readonly version: number;
  readonly settings: StoredOrganization;
}

/** The outgoing heartbeat as people configure it; both secrets are stored sealed and never answered. */
export interface HeartbeatSettings {
  readonly isUrlSet: boolean;
  /** When the URL was set or cleared last; null before. */
  readonly urlAt: Micros | null;
  readonly proxy: ProxyFields;
  /** When the stored password was set; null without one. */
  readonly proxyPasswordAt: Micros | null;
}

export interface OrganizationView extends OrganizationRecord {
  readonly heartbeat: HeartbeatSettings;
}

/** What the `settings` column holds. Keys are the API's. */
export interface StoredOrganization {
  readonly name: string;
  readonly time_zone: string;
  /** `HH:MM`. */
  readonly workday_start: string;
  readonly week_start: Weekday;
  readonly severity_label: string;
  readonly severity_mapping: readonly { readonly value: string; readonly level: SeverityLevel }[];
  readonly severity_styles: readonly {
    readonly level: SeverityLevel;
    readonly emoji: string;
    readonly color: string;
  }[];
  readonly critical_is_urgent: boolean;
  readonly instance_labels: readonly string[];
  readonly retention: {
    readonly stored_snapshots_days: number;
    readonly alert_details_days: number;
    readonly alert_group_summaries_days: number;
    readonly audit_log_days: number;
  };
  readonly totp_required: 'nobody' | 'local_users' | 'everyone';
  readonly oidc_token_grace_seconds: number;
}

/** What a new installation starts with (organization §2.1). */
export const ORGANIZATION_DEFAULTS: StoredOrganization = {
  name: 'Tocsin',
  time_zone: 'UTC',
  workday_start: '09:00',
  week_start: 'monday',
  severity_label: 'severity',
  severity_mapping: [
    { value: 'critical', level: 'critical' },
    { value: 'warning', level: 'warning' },
    { value: 'info', level: 'info' },
    { value: 'none', level: 'info' },
  ],
  severity_styles: [
    { level: 'critical', emoji: '🟥', color: '#d32f2f' },
    { level: 'warning', emoji: '🟧', color: '#f57c00' },
    { level: 'info', emoji: '🟦', color: '#1976d2' },
  ],
  critical_is_urgent: true,
  instance_labels: ['pod', 'instance', 'container', 'endpoint'],
  retention: {
    stored_snapshots_days: 14,
    alert_details_days: 90,
    alert_group_summaries_days: 730,
    audit_log_days: 365,
  },
  totp_required: 'nobody',
  oidc_token_grace_seconds: 604_800,
};

/** What turns are decided with. */
export function organizationSettings({ id, settings }: OrganizationRecord): OrganizationSettings {
  return {
    id,
    name: settings.name,
    timeZone: settings.time_zone,
    workdayStart: settings.workday_start,
    weekStart: settings.week_start,
    severityLabel: settings.severity_label,
    severityMapping: settings.severity_mapping,
    severityEmoji: emojiOf(settings),
    criticalIsUrgent: settings.critical_is_urgent,
    instanceLabels: settings.instance_labels,
  };
}

function emojiOf({ severity_styles: styles }: StoredOrganization): OrganizationSettings['severityEmoji'] {
  const emoji = { critical: '', warning: '', info: '' };
  for (const style of styles) emoji[style.level] = style.emoji;
  return emoji;
}
