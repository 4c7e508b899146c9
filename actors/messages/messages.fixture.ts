/** An Alert Group, its settings and calls, for the tests of messages. */
import type { PublicId } from '../../runtime/public-id.ts';
import { type GroupMessage, type MessageAlert, type MessageSettings, NO_NOTES } from './input.ts';
import type { RootCall } from './root.ts';

export const STARTED = Date.UTC(2026, 9, 4, 14, 5) * 1_000;

/** Alerts of one group: the same labels but for what each entry says. */
export function alerts(
  entries: readonly (Partial<MessageAlert> & { readonly labels: MessageAlert['labels'] })[],
): MessageAlert[] {
  return entries.map((entry, index) => ({
    fingerprint: `f${String(index).padStart(4, '0')}`,
    state: 'firing',
    severityLevel: 'critical',
    annotations: {},
    startsAt: STARTED,
    resolvedAt: null,
    generatorUrl: null,
    ...entry,
  }));
}

const COMMON = { alertname: 'HighErrorRate', cluster: 'prod', ns: 'shop', severity: 'critical' };

/** #412: one firing Alert, one resolved. */
export function group412(changes: Partial<GroupMessage> = {}): GroupMessage {
  return {
    id: 'AGK7M3QX9P2RTA' as PublicId,
    number: 412,
    title: 'HighErrorRate',
    summary: '5xx > 2 %',
    status: 'firing',
    severityLevel: 'critical',
    urgent: true,
    routeName: 'Payments',
    startedAt: STARTED,
    alertsStartedAt: STARTED,
    owner: null,
    snooze: null,
    resolution: null,
    unclaimed: false,
    reopenCount: 0,
    firingAgainAfter: null,
    groupLabels: { alertname: 'HighErrorRate', cluster: 'prod' },
    commonLabels: COMMON,
    commonAnnotations: { summary: '5xx > 2 %' },
    firingCount: 1,
    resolvedCount: 1,
    alerts: alerts([
      { labels: { ...COMMON, pod: 'a' } },
      { labels: { ...COMMON, pod: 'b' }, state: 'resolved', resolvedAt: STARTED + 60_000_000 },
    ]),
    links: [],
    ...changes,
  };
}

/** A group of `count` firing Alerts that differ as `labelsOf` says. */
export function groupOf(
  count: number,
  labelsOf: (index: number) => MessageAlert['labels'],
  changes: Partial<GroupMessage> = {},
): GroupMessage {
  const listed = alerts(
    Array.from({ length: count }, (_, index) => ({ labels: { ...COMMON, ...labelsOf(index) } })),
  );
  return group412({ firingCount: count, resolvedCount: 0, alerts: listed, ...changes });
}

export function settings(changes: Partial<MessageSettings> = {}): MessageSettings {
  return {
    publicUrl: 'https://oncall.example.org',
    version: '0.1.0',
    language: 'en',
    zone: 'UTC',
    severityLabel: 'severity',
    severityEmoji: { critical: '🟥', warning: '🟧', info: '🟦' },
    snoozeDurationsSeconds: [3_600, 14_400],
    templates: { rootMessage: null, line: null, ackTimeoutNotice: null },
    now: STARTED + 600_000_000,
    lookup: () => '',
    ...changes,
  };
}

export const BRIDGE_LIMITS = { maxBodyLength: 9_500, maxButtons: 25, maxButtonText: 64 };

export function call(changes: Partial<RootCall> = {}): RootCall {
  return {
    kind: 'root',
    notes: NO_NOTES,
    mentions: null,
    sign: (command, seconds) => `${command}-${seconds}`,
    ...changes,
  };
}
