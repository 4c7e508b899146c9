import { expect, test } from 'vitest';
import type { OrganizationSettings } from '../../api/organization.ts';
import { fromDraft, shown, toDraft } from './organization-input.ts';

const SETTINGS: OrganizationSettings = {
  ...{ id: 'RG0000000000AA', etag: '"3"', name: 'Tocsin', time_zone: 'UTC' },
  ...{ workday_start: '09:00', week_start: 'monday', severity_label: 'severity' },
  severity_mapping: [{ value: 'page', level: 'critical' }],
  severity_styles: [{ level: 'critical', emoji: 'c', color: '#d32f2f' }],
  ...{ critical_is_urgent: true, instance_labels: ['pod'] },
  retention: {
    ...{ stored_snapshots_days: 14, alert_details_days: 90 },
    ...{ alert_group_summaries_days: 730, audit_log_days: 365 },
  },
  ...{ totp_required: 'nobody', oidc_token_grace_seconds: 604_800 },
  outgoing_heartbeat: {
    url_status: { set: true, updated_at: null },
    proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
  },
};

test('what is read is sent back without a change', () => {
  const { id: _id, etag: _etag, outgoing_heartbeat: _, ...fields } = SETTINGS;
  expect(fromDraft(toDraft(SETTINGS))).toEqual({
    ...fields,
    outgoing_heartbeat: { proxy: { enabled: false } },
  });
});

test.each([
  ['nothing typed keeps it', {}, {}],
  ['something typed replaces it', { url: 'https://a.example/b' }, { url: 'https://a.example/b' }],
  ['removing clears it, whatever was typed', { url: 'x', removesUrl: true }, { url: null }],
])('the URL: %s', (_name, change, sent) => {
  const { outgoing_heartbeat } = fromDraft({ ...toDraft(SETTINGS), ...change });
  expect(outgoing_heartbeat).toEqual({ proxy: { enabled: false }, ...sent });
});

test('what is shown beside another version holds no secret', () => {
  const draft = toDraft(SETTINGS);
  const proxy = { ...draft.proxy, enabled: true, password: 'hunter2' };
  const text = JSON.stringify(shown({ ...draft, url: 'https://a.example/secret', proxy }));
  expect(text).not.toMatch(/secret"|hunter2/);
});
