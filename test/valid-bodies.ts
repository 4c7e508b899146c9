/** A body that each operation takes, with every field it has: what tests of refused bodies start from. */
import { ORGANIZATION_DEFAULTS } from '../actors/access/organization.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

const PROXY = {
  enabled: true,
  type: 'http',
  address: 'proxy.example:3128',
  username: 'tocsin',
  password: 'secret',
} as const;
const LIMITER = { limit: 5, per_seconds: 1 } as const;
const MATCHERS = [{ label: 'team', op: '=', value: 'payments' }] as const;
const TARGETS = { everyone: 'none', user_ids: [], groups: [] } as const;
const MENTIONS = {
  new_alert_group: TARGETS,
  new_alerts: TARGETS,
  reopen: TARGETS,
  ack_timeout: TARGETS,
  snooze_ended: TARGETS,
  rise_to_urgent: TARGETS,
} as const;

/** Ids that nothing has; tests with a database put those of theirs in their place. */
export const GROUP = 'AG0000000000AA';
export const ROUTE = 'RT0000000000AA';
export const CONNECTION = 'CN0000000000AA';
export const DESTINATION = 'DS0000000000AA';

const connection = {
  type: 'bridge',
  name: 'Zulip',
  base_url: 'https://bridge.example',
  event_mode: 'push',
  bot_token: 'token',
  push_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  limiter: LIMITER,
  proxy: PROXY,
} as const;

const request = { request: 'POST https://receiver.example/tickets', extract: [] } as const;

const destination = {
  type: 'webhook',
  name: 'Tickets',
  mentions: MENTIONS,
  limiter: LIMITER,
  mode: 'events',
  events: {
    url: 'https://receiver.example/hook',
    headers: [{ name: 'X-Team', value: 'payments' }],
  },
  template: { create: request, update: request, open_thread: request, reply_in_thread: request },
  proxy: PROXY,
} as const;

const integration = {
  name: 'Prometheus',
  description: 'The pair in the first hall',
  connection_mode: 'webhook_only',
  static_labels: { cluster: 'one' },
  duplicate_window_seconds: 45,
  heartbeat: { enabled: true, timeout_seconds: 300 },
} as const;

const linkRule = {
  name: 'Dashboard',
  matchers: MATCHERS,
  scope: { type: 'label_value', label: 'instance' },
  url_template: 'https://grafana.example/d/host',
} as const;

const lookupTable = {
  name: 'teams',
  description: 'Who looks after what',
  columns: ['channel'],
  entries: [{ key: 'payments', values: { channel: 'pay' } }],
} as const;

const route = {
  name: 'Payments',
  description: 'What the payments team looks after',
  matchers: MATCHERS,
  urgent: false,
  group_key: ['alertname'],
  destination_ids: [DESTINATION],
  policy: {
    reopen_window_seconds: 300,
    grace_period_seconds: 0,
    urgent_rise_removes_ack: true,
    snooze_durations_seconds: [3600],
    thread_batching_window_seconds: 30,
    storm_threshold: 30,
    language: 'en',
    templates: { root_message: 'root', line: 'line', ack_timeout_notice: 'notice' },
    ack_timeout: { enabled: true, first_interval_seconds: 900 },
    reminders: { enabled: true, first_interval_seconds: 14_400, cap_seconds: 86_400 },
    auto_unacknowledge: false,
  },
} as const;

const snooze = { until: '2030-01-01T00:00:00Z' } as const;
const serviceAccount = { name: 'Terraform', role: 'viewer' } as const;
const token = { name: 'CI', expires_at: '2030-01-01T00:00:00Z' } as const;
const user = { name: 'Ann', email: 'ann@example.org', role: 'viewer' } as const;
const trial = { source: { kind: 'alert_group', alert_group_id: GROUP } } as const;

/** By operation id. */
export const VALID_BODIES: Readonly<Record<string, JsonObject>> = {
  startBridgeLink: { connection_id: CONNECTION, method: 'code', handle: 'ann' },
  confirmBridgeLink: { request_id: 'AR0000000000AA', code: '123456' },
  addNote: { body: 'Looking at it.' },
  resolveAlertGroup: { note: 'Fixed.' },
  snoozeAlertGroup: { until: snooze.until },
  runBulkCommand: { command: 'snooze', alert_group_ids: [GROUP], note: 'Fixed.', snooze },
  createConnection: connection,
  updateConnection: connection,
  checkConnection: {
    type: 'bridge',
    base_url: 'https://bridge.example',
    bot_token: 'token',
    proxy: PROXY,
    connection_id: CONNECTION,
  },
  createDestination: destination,
  updateDestination: destination,
  testDestination: trial,
  previewDestination: trial,
  putDestinationSecret: { value: 'secret' },
  createIntegration: integration,
  updateIntegration: integration,
  createIntegrationToken: { name: 'second' },
  createLinkRule: linkRule,
  updateLinkRule: linkRule,
  createLookupTable: lookupTable,
  updateLookupTable: lookupTable,
  updateOrganization: {
    ...ORGANIZATION_DEFAULTS,
    outgoing_heartbeat: { url: 'https://watch.example/beat', proxy: PROXY },
  } as unknown as JsonObject,
  updateOidcSettings: {
    enabled: false,
    display_name: 'Company',
    issuer_url: 'https://id.example',
    client_id: 'tocsin',
    client_secret: 'secret',
    client_secret_expires_on: '2030-01-01',
    scopes: ['openid'],
    groups_claim: 'groups',
    group_mappings: [{ group: 'sre', role: 'admin' }],
    unmatched_role: 'none',
    sync_role: true,
    skip_totp_with_idp_mfa: false,
    proxy: PROXY,
  },
  updateOutboundPolicy: { policy: 'standard', allowed: ['10.0.0.0/8'], denied: ['192.0.2.0/24'] },
  createPersonalAccessToken: { ...token, permissions: ['alert-groups:read'] },
  createRoute: route,
  updateRoute: route,
  reorderRoutes: { route_ids: [ROUTE] },
  previewGroupKey: {
    route_id: ROUTE,
    matchers: MATCHERS,
    proposed_group_key: ['alertname'],
    period_seconds: 3600,
  },
  acceptRouteSuggestion: { destination_ids: [DESTINATION] },
  createServiceAccount: serviceAccount,
  updateServiceAccount: serviceAccount,
  createServiceAccountToken: token,
  previewTemplate: {
    kind: 'line',
    template: '{{ .Title }}',
    format: 'markdown',
    route_id: ROUTE,
    stored_snapshot_id: 'SS0000000000AA',
    alert_group_id: GROUP,
    language: 'en',
    length_limit: 100,
  },
  createUser: { ...user, login: 'ann' },
  updateUser: user,
  createSession: { login: 'ann', password: 'a long enough password', totp_code: '123456' },
  submitSessionTotp: { totp_code: '123456' },
  updateMe: { name: 'Ann', time_zone: 'Europe/Berlin', language: 'en' },
  changePassword: { current_password: 'a long enough password', new_password: 'another long password' },
  completePasswordSetup: { token: 'token', password: 'a long enough password' },
  confirmTotpEnrolment: { code: '123456' },
  removeTotp: { password: 'a long enough password', totp_code: '123456', recovery_code: 'code' },
  regenerateTotpRecoveryCodes: { code: '123456' },
};
