/** What senders sent, what Routes would do, and one actor: answers of the mock in the shapes of the API. */

import type {
  GroupKeyPreview,
  GroupKeyPreviewInput,
  IntegrationAlert,
  RouteSuggestion,
  SenderRoute,
  StoredSnapshotBody,
} from '../src/api/shapes.ts';
import type { ActorState } from '../src/api/system.ts';
import { type MockData, ON_CALL } from './mock-data.ts';

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

export function mockSenderRoutes(): readonly SenderRoute[] {
  return [
    {
      route_path: '{}/{severity="critical"}',
      learned_repeat_interval_seconds: 14_400,
      resolve_by_absence_after_seconds: 32_400,
      truncated_group_count: 2,
      long_interval_warning: true,
      recommended_snippet:
        'route:\n  routes:\n    - matchers: [\'severity="critical"\']\n      repeat_interval: 10m\n',
    },
    {
      route_path: '{}',
      learned_repeat_interval_seconds: null,
      resolve_by_absence_after_seconds: 90_000,
      truncated_group_count: 0,
      long_interval_warning: false,
      recommended_snippet: null,
    },
  ];
}

export function mockAlerts({ groups }: MockData, query: URLSearchParams): readonly IntegrationAlert[] {
  const state = query.get('state');
  return groups
    .map(
      (group): IntegrationAlert => ({
        fingerprint: group.id.toLowerCase(),
        labels: { ...group.common_labels, instance: 'node-7.example' },
        annotations: {},
        state: group.status === 'resolved' ? 'resolved' : 'firing',
        resolve_reason: group.status === 'resolved' ? 'resolved' : null,
        resolve_reason_text: group.status === 'resolved' ? 'The sender said so' : null,
        starts_at: group.started_at,
        resolved_at: group.resolved_at,
        last_seen_at: group.last_changed_at,
        alertmanager_groups: ['{}:{}'],
        static_label_warnings: group.number % 3 === 0 ? ['cluster'] : [],
        route: group.route,
        severity_level: group.severity_level,
        severity_raw: group.number % 4 === 0 ? 'P5' : null,
        alert_group: { id: group.id, number: group.number },
      }),
    )
    .filter((alert) => state === null || alert.state === state);
}

export function mockSnapshots({ integrations }: MockData, id: string): readonly StoredSnapshotBody[] {
  const integration = integrations.find((each) => each.id === id) ?? integrations[0]!;
  const { name } = integration;
  const body = JSON.stringify({
    version: '4',
    groupKey: '{}:{}',
    alerts: [{ labels: { alertname: 'Disk' } }],
  });
  return Array.from({ length: 12 }, (_, index) => ({
    id: `SS00000000000${index}`,
    integration: { id: integration.id, name },
    received_at: minutesAgo(index * 10),
    processed_at: index === 0 ? null : minutesAgo(index * 10),
    size_bytes: 900 * (index + 1),
    group_key: index === 3 ? null : '{}/{severity="critical"}:{alertname="Disk"}',
    alert_count: index === 3 ? null : index + 1,
    truncated_alerts: index === 2 ? 40 : 0,
    state: index === 0 ? 'pending' : index === 3 ? 'failed' : 'processed',
    processing_error: index === 3 ? 'not JSON' : null,
    body: index === 3 ? 'AP+A' : body,
    body_encoding: index === 3 ? 'base64' : 'utf8',
    content_type: 'application/json',
  }));
}

const TAKEN_BY = {
  id: 'RT000000000002',
  name: 'Disks',
  matchers: [{ label: 'alertname', op: '=', value: 'DiskFull' }],
} as const;

export function mockPreview(input: GroupKeyPreviewInput): GroupKeyPreview {
  const period = input.period_seconds ?? 604_800;
  const side = (names: readonly string[]) => ({
    alert_group_count: 1 + names.length * 7,
    examples: [9, 4, 1].slice(0, names.length === 0 ? 1 : 3).map((alert_count) => ({
      group_key_values: Object.fromEntries(names.map((name) => [name, `${name}-${alert_count}`])),
      alert_count,
    })),
  });
  return {
    period_seconds: period,
    truncated: period > 604_800,
    current: input.route_id === null ? null : side(['alertname', 'cluster']),
    proposed: side(input.proposed_group_key),
    samples: [
      {
        labels: { alertname: 'HighErrorRate', cluster: 'prod' },
        taken_by: { id: null, name: null, matchers: [] },
        comes_here: true,
      },
      { labels: { alertname: 'DiskFull', cluster: 'prod' }, taken_by: TAKEN_BY, comes_here: false },
    ],
    taken_earlier: [{ route: TAKEN_BY, alert_count: 4 }],
  };
}

export function mockSuggestions(): RouteSuggestion[] {
  const matchers = [{ label: 'alertname', op: '=', value: 'SvcHeartbeatLost' }] as const;
  const group_key = ['alertname', 'integration'];
  const route = { description: '', matchers, urgent: true, group_key, destination_ids: [], policy: ON_CALL };
  return [{ id: 'heartbeat_lost', route: { name: 'Tocsin: Heartbeat lost', ...route } }];
}

export function mockActor(kind: string, key: string): ActorState {
  return {
    ...{ kind, key, replica: 'eu-1', schema: 2, version: 41 },
    state: kind === 'alert_group' ? { firing: 'counting' } : 'steady',
    wake_at: minutesAgo(-7),
    messages: [
      { at: minutesAgo(1), type: 'part', from: 'feed' },
      { at: minutesAgo(5), type: 'acknowledge', from: null },
    ],
  };
}
