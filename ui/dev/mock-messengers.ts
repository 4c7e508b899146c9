/** A bridge and a channel behind it: answers of the mock in the shapes of the API. */

import type { DestinationCheck, DestinationTest, PreviewItem } from '../src/api/configuration.ts';
import type { Connection } from '../src/api/connections.ts';
import type { Destination, Mentions } from '../src/api/shapes.ts';

const AT = '2026-09-01T08:00:00Z';
const NOBODY = { everyone: 'none', user_ids: [], groups: [] } as const;

export const MOCK_MENTIONS: Mentions = {
  new_alert_group: NOBODY,
  new_alerts: NOBODY,
  reopen: NOBODY,
  ack_timeout: { everyone: 'none', user_ids: ['SR000000000001'], groups: [] },
  snooze_ended: NOBODY,
  rise_to_urgent: NOBODY,
};

export const MOCK_CONNECTION: Connection = {
  id: 'CN000000000001',
  type: 'bridge',
  name: 'Zulip',
  base_url: 'https://bridge.example.org/zulip',
  event_mode: 'poll',
  limiter: { limit: 5, per_seconds: 1 },
  proxy: { enabled: false, username: null, password_status: { set: false, updated_at: null } },
  bot_token_status: { set: true, updated_at: AT },
  push_secret_status: { set: false, updated_at: null },
  bot_username: 'oncall-bot',
  destination_count: 1,
  account_link_count: 3,
  callback_url: 'https://ingest.example.org/api/v1/callbacks/bridge/CN000000000001',
  inbound: { last_at: AT, error: null, since: null },
  info: {
    protocol_version: '1',
    link_url_template: null,
    bridge: { name: 'zulip-bridge', version: '1.2.0', homepage: null },
    messenger: { name: 'Zulip', version: '10.1', url: 'https://chat.example.org', bot: null },
    capabilities: {
      ...{ buttons: true, quiet_messages: true, native_mentions: true, delete: true },
      ...{ direct_messages: { bot_can_start: true }, private_answers: false },
      ...{ thread_messages: true, deletion_events: true },
    },
    limits: { max_body_length: 9_500, edit_max_age_seconds: null, max_buttons: null, max_button_text: null },
    user_lookup: 'email',
    event_delivery: ['poll', 'push'],
  },
  info_updated_at: AT,
  warnings: [],
  created_at: AT,
  etag: '"2"',
};

export const MOCK_CHANNEL: Destination = {
  id: 'DS000000000003',
  type: 'bridge',
  name: 'Alerts of production',
  connection_id: MOCK_CONNECTION.id,
  channel_id: 'alerts/prod',
  channel_name: 'alerts > prod',
  mentions: MOCK_MENTIONS,
  limiter: { limit: 5, per_seconds: 1 },
  health: { state: 'healthy', since: null, reason: null },
  failing: null,
  waiting: 0,
  routes: [{ id: 'RT000000000001', name: 'Payments' }],
  warnings: [],
  template_error: null,
  created_at: AT,
  etag: '"4"',
};

const RUN = 'RN3V8K2M5N7QXT';
const HEALTH = MOCK_CHANNEL.health;

export const MOCK_CHECK: DestinationCheck = {
  ok: false,
  checks: [
    { name: 'token', ok: true, message: null },
    { name: 'channel_exists', ok: false, message: 'The bot is not subscribed to the stream alerts.' },
  ],
  health: HEALTH,
  request_log_run: RUN,
};

export const MOCK_TEST: DestinationTest = {
  steps: [
    {
      name: 'message',
      request: {
        method: 'POST',
        url: 'https://bridge.example.org/zulip/v1/messages',
        headers: [
          { name: 'Authorization', value: 'Bearer [redacted]' },
          { name: 'Idempotency-Key', value: `test-${RUN}` },
        ],
        body: '{"status":"firing","color":"#d32f2f","title":"#1 Disk full · 🧪 Test message","notify":false}',
      },
      response_status: 201,
      response_body: '{"message_id":"9001","thread_ref":null,"truncated":false,"replayed":false}',
      extracted: null,
      duration_ms: 84,
      error_class: 'none',
      error: null,
    },
  ],
  health: HEALTH,
  request_log_run: RUN,
};

export const MOCK_PREVIEW: readonly PreviewItem[] = [
  {
    name: 'message',
    format: 'commonmark',
    text: '🔴 **[#412 HighErrorRate](https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA)**\n\n🟥 critical · Urgent · cluster: prod · started 2026-10-04 14:05 UTC\n\n> ns: shop\n\nAlerts: 1 firing, 1 resolved\n\n- pod: a\n- ~~pod: b~~\n\n[Ack] [Resolve] [Snooze 1 h]',
    request: null,
  },
];
