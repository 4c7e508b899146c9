/** The Organization's settings as they arrive and as they are answered (organization §2, §3). */
import * as v from 'valibot';
import type { OrganizationView } from '../../actors/access/organization.ts';
import { SEVERITY_LEVELS } from '../../actors/model.ts';
import { formatInstantOrNull } from '../../runtime/clock.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody } from '../proxy-shapes.ts';
import { SecretStatus } from '../shapes.ts';

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
const LONGEST_RETENTION_DAYS = 36_500;
const LONGEST_GRACE_SECONDS = 3_153_600_000;

/** At least one is a rule of meaning, with 422; the greatest is one of form. */
const days = v.pipe(v.number(), v.integer(), v.maxValue(LONGEST_RETENTION_DAYS));

const settings = {
  name: v.string(),
  time_zone: v.string(),
  severity_label: v.string(),
  severity_mapping: v.array(v.object({ value: v.string(), level: v.picklist(SEVERITY_LEVELS) })),
  severity_styles: v.array(
    v.object({ level: v.picklist(SEVERITY_LEVELS), emoji: v.string(), color: v.string() }),
  ),
  critical_is_urgent: v.boolean(),
  instance_labels: v.array(v.string()),
  retention: v.object({
    stored_snapshots_days: days,
    alert_details_days: days,
    alert_group_summaries_days: days,
    audit_log_days: days,
  }),
  totp_required: v.picklist(['nobody', 'local_users', 'everyone']),
  oidc_token_grace_seconds: v.pipe(v.number(), v.integer(), v.maxValue(LONGEST_GRACE_SECONDS)),
};

const workdayStart = v.pipe(v.string(), v.regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/));
const weekStart = v.picklist(WEEKDAYS);

export const OrganizationBody = v.object({
  ...settings,
  workday_start: v.optional(workdayStart),
  week_start: v.optional(weekStart),
  outgoing_heartbeat: v.object({ url: v.optional(v.nullable(v.string())), proxy: ProxyConfigInput }),
});

export const OrganizationShape = v.object({
  id: v.string(),
  ...settings,
  workday_start: workdayStart,
  week_start: weekStart,
  outgoing_heartbeat: v.object({ url_status: SecretStatus, proxy: ProxyConfigShape }),
  etag: v.string(),
});

export function organizationBody({ id, version, settings, heartbeat }: OrganizationView) {
  const { isUrlSet, urlAt, proxy, proxyPasswordAt } = heartbeat;
  return {
    id,
    ...settings,
    outgoing_heartbeat: {
      url_status: { set: isUrlSet, updated_at: formatInstantOrNull(urlAt) },
      proxy: proxyBody(proxy, proxyPasswordAt),
    },
    etag: `"${version}"`,
  };
}
