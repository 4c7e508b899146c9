/** The Organization's settings; reading them is all that this build does (organization §1). */
import * as v from 'valibot';
import { organizationShape } from '../../actors/access/organization.ts';
import type { Organizations } from '../../actors/access/ports.ts';
import { SEVERITY_LEVELS } from '../../actors/model.ts';
import { type Operation, operation } from '../operation.ts';
import { SecretStatus } from '../shapes.ts';

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

export const OrganizationShape = v.object({
  id: v.string(),
  name: v.string(),
  time_zone: v.string(),
  workday_start: v.string(),
  week_start: v.picklist(WEEKDAYS),
  severity_label: v.string(),
  severity_mapping: v.array(v.object({ value: v.string(), level: v.picklist(SEVERITY_LEVELS) })),
  severity_styles: v.array(
    v.object({ level: v.picklist(SEVERITY_LEVELS), emoji: v.string(), color: v.string() }),
  ),
  critical_is_urgent: v.boolean(),
  instance_labels: v.array(v.string()),
  retention: v.object({
    stored_snapshots_days: v.number(),
    alert_details_days: v.number(),
    alert_group_summaries_days: v.number(),
    audit_log_days: v.number(),
  }),
  totp_required: v.picklist(['nobody', 'local_users', 'everyone']),
  oidc_token_grace_seconds: v.number(),
  outgoing_heartbeat: v.object({
    url_status: SecretStatus,
    proxy: v.object({
      enabled: v.boolean(),
      type: v.optional(v.picklist(['http', 'https', 'socks5'])),
      address: v.optional(v.string()),
      username: v.nullable(v.string()),
      password_status: SecretStatus,
    }),
  }),
  etag: v.string(),
});

export function organizationOperations(organization: Organizations): readonly Operation[] {
  return [
    operation({
      id: 'getOrganization',
      method: 'GET',
      path: '/organization',
      tag: 'Organization',
      summary: 'Read the settings of the Organization',
      needs: 'authenticated',
      answers: { 200: { description: 'The settings', schema: OrganizationShape, etag: true } },
      async handle() {
        const record = await organization.read();
        return { status: 200, body: organizationShape(record), etag: record.version };
      },
    }),
  ];
}
