/** How many messages are laid out a second: the work of a Destination's step before anything is sent. */
import {
  bridgeRoot,
  channelBotRoot,
  chatServerRoot,
  type GroupMessage,
  type MessageAlert,
  type MessageSettings,
  NO_NOTES,
  type RootCall,
} from '../actors/messages/index.ts';
import { parseTemplate } from '../actors/templates/index.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { type Bench, perSecond } from './report.ts';

const STARTED = 1_791_020_467_000_000;
const LIMITS = { maxBodyLength: 9_500, maxButtons: 25, maxButtonText: 64 };
const CALL: RootCall = {
  kind: 'root',
  notes: NO_NOTES,
  mentions: null,
  sign: (command) => command.padEnd(55, '0'),
};
const TEMPLATE = `**{{ .AlertGroup.Title }}** on {{ .CommonLabels.cluster }}
{{ range .Alerts.Firing }}
- {{ .Labels.pod }} since {{ .StartsAt | date "15:04" }}
{{- end }}`;

const COMMON = {
  alertname: 'HighErrorRate',
  cluster: 'prod-eu-1',
  namespace: 'payments',
  service: 'checkout_api',
  severity: 'critical',
  team: 'payments',
  prometheus: 'monitoring/main',
};

function group(count: number, valueLength: number): GroupMessage {
  const alerts = Array.from({ length: count }, (_, index): MessageAlert => {
    const labels = {
      ...COMMON,
      pod: `checkout-${index}`,
      node: `node_${index % 7}_`.padEnd(valueLength, '*x'),
    };
    const isFiring = index % 5 !== 0;
    return {
      fingerprint: index.toString(16).padStart(16, '0'),
      state: isFiring ? 'firing' : 'resolved',
      severityLevel: 'critical',
      labels,
      annotations: { summary: 'Error rate above 5 %' },
      startsAt: STARTED + index,
      resolvedAt: isFiring ? null : STARTED + index + 1,
      generatorUrl: 'https://prometheus.example.org/graph?g0.expr=up',
    };
  });
  const firingCount = alerts.filter(({ state }) => state === 'firing').length;
  return {
    id: 'AGK7M3QX9P2RTA' as PublicId,
    number: 412,
    title: 'HighErrorRate',
    summary: 'Error rate above 5 %',
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
    reopenCount: 1,
    firingAgainAfter: null,
    groupLabels: { alertname: 'HighErrorRate', cluster: 'prod-eu-1' },
    commonLabels: COMMON,
    commonAnnotations: { impact: 'Orders fail', summary: 'Error rate above 5 %' },
    firingCount,
    resolvedCount: count - firingCount,
    alerts,
    links: [{ kind: 'runbook', url: 'https://wiki.example.org/runbooks/high_error_rate' }],
  };
}

function settings(rootMessage: string | null): MessageSettings {
  const parsed = rootMessage === null ? null : parseTemplate('root_message', rootMessage);
  if (parsed && !parsed.ok) throw new Error(parsed.error.message);
  return {
    publicUrl: 'https://oncall.example.org',
    version: '0.1.0',
    language: 'en',
    zone: 'Europe/Berlin',
    severityLabel: 'severity',
    severityEmoji: { critical: '🟥', warning: '🟧', info: '🟦' },
    snoozeDurationsSeconds: [3_600, 14_400, 86_400],
    templates: { rootMessage: parsed?.template ?? null, line: null, ackTimeoutNotice: null },
    now: STARTED,
    lookup: () => '',
  };
}

/** Calls a second, as many as fit into `seconds`. */
function measure(run: () => unknown, seconds: number): number {
  const start = performance.now();
  const end = start + seconds * 1_000;
  let calls = 0;
  while (performance.now() < end) {
    run();
    calls++;
  }
  return (calls / (performance.now() - start)) * 1_000;
}

export const messages: Bench = {
  name: 'messages',
  title: 'Messages laid out, one thread',
  async run(options) {
    const seconds = Math.max(1, options.seconds / 10);
    const [few, many, long] = [group(5, 12), group(1_000, 12), group(600, 4_000)];
    const [builtIn, own] = [settings(null), settings(TEMPLATE)];
    const loads: readonly (readonly [what: string, run: () => unknown])[] = [
      ['chat server, 5 Alerts', () => chatServerRoot(few, builtIn, CALL)],
      ['channel bot, 5 Alerts', () => channelBotRoot(few, builtIn, CALL)],
      ['bridge, 5 Alerts', () => bridgeRoot(few, builtIn, CALL, LIMITS)],
      ['bridge, 1,000 Alerts', () => bridgeRoot(many, builtIn, CALL, LIMITS)],
      [
        'bridge, 600 Alerts with values of 4,000 characters, shortened',
        () => bridgeRoot(long, builtIn, CALL, LIMITS),
      ],
      ['chat server, 5 Alerts, a template', () => chatServerRoot(few, own, CALL)],
      ['bridge, 1,000 Alerts, a template, shortened', () => bridgeRoot(many, own, CALL, LIMITS)],
    ];
    const rows = loads.map(([what, run]) => {
      options.progress(what);
      measure(run, 0.3);
      return { what, rate: measure(run, seconds) };
    });
    return {
      rows: rows.map(({ what, rate }) => ({ what, value: perSecond(rate) })),
      raw: Object.fromEntries(rows.map(({ what, rate }) => [what, rate])),
    };
  },
};
