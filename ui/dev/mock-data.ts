/** In-memory data in the shapes of the API, for checks of the UI in a real browser. */
import type {
  AlertGroup,
  AlertItem,
  CommandName,
  DeliveryItem,
  Destination,
  Integration,
  IntegrationToken,
  NamedSecret,
  Note,
  Route,
  RoutePolicy,
  Session,
  TimelineEntry,
  UserRef,
} from '../src/api/shapes.ts';
import type { SystemNotice, SystemStatus } from '../src/api/system.ts';
import { MOCK_CHANNEL, MOCK_MENTIONS } from './mock-messengers.ts';
import { mockUser } from './mock-people.ts';
import { calmStatus } from './mock-status.ts';

export interface MockData {
  readonly session: Session;
  groups: AlertGroup[];
  alerts: Map<string, AlertItem[]>;
  notes: Map<string, Note[]>;
  timeline: Map<string, TimelineEntry[]>;
  deliveries: Map<string, DeliveryItem[]>;
  integrations: Integration[];
  tokens: Map<string, IntegrationToken[]>;
  routes: Route[];
  orderVersion: number;
  destinations: Destination[];
  secrets: Map<string, NamedSecret[]>;
  sequence: number;
  status: SystemStatus;
  notices: SystemNotice[];
}

const ALL_PERMISSIONS: Session['permissions'] = [
  'alert-groups:read',
  'alert-groups:acknowledge',
  'alert-groups:resolve',
  'alert-groups:snooze',
  'alert-groups:note',
  'alerts:read',
  'stored-snapshots:read',
  'integrations:read',
  'integrations:write',
  'routes:read',
  'routes:write',
  'templates:preview',
  'lookup-tables:write',
  'lookup-tables:read',
  'link-rules:write',
  'link-rules:read',
  'destinations:read',
  'destinations:write',
  'destinations:test',
  'audit-log:read',
  'system-status:read',
  'organization:read',
  'users:read',
  'users:write',
  'service-accounts:read',
  'service-accounts:write',
  'organization:write',
  'oidc:read',
  'oidc:write',
];

export const ADA = { id: 'SRADA000000000', name: 'Ada Lovelace', login: 'ada', deactivated: false } as const;
export const LINUS = { id: 'SRLNS000000000', name: 'Linus Ek', login: 'linus', deactivated: false } as const;

/** Everybody who ever had an account. */
export const PEOPLE: readonly UserRef[] = [
  ADA,
  LINUS,
  { id: 'SRGRC000000000', name: 'Grace Hopper', login: 'grace', deactivated: true },
];

export const ON_CALL: RoutePolicy = {
  reopen_window_seconds: 900,
  grace_period_seconds: 900,
  urgent_rise_removes_ack: true,
  snooze_durations_seconds: [3_600, 14_400, 86_400],
  thread_batching_window_seconds: 60,
  storm_threshold: 20,
  language: 'en',
  templates: { root_message: null, line: null, ack_timeout_notice: null },
  ack_timeout: { enabled: true, first_interval_seconds: 900 },
  reminders: { enabled: true, first_interval_seconds: 14_400, cap_seconds: 86_400 },
  auto_unacknowledge: false,
};

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** Ids as the service makes them, from a readable text. */
export function mockId(prefix: string, n: number): string {
  return `${prefix}${String(n).padStart(12, '0')}`;
}

/** A Reminder waits for Ada's answer here. */
const REMINDED = 1_199;

export function allowedCommands(group: AlertGroup): CommandName[] {
  const byStatus: Record<AlertGroup['status'], CommandName[]> = {
    firing: ['acknowledge', 'resolve', 'snooze'],
    acknowledged:
      group.owner?.id === ADA.id
        ? [
            'unacknowledge',
            'resolve',
            'snooze',
            ...(group.number === REMINDED ? (['still_on_it'] as const) : []),
          ]
        : ['acknowledge', 'unacknowledge', 'resolve', 'snooze'],
    snoozed: ['acknowledge', 'resolve', 'snooze', 'unsnooze'],
    resolved: group.resolution?.by === 'user' ? ['unresolve'] : [],
  };
  return [...byStatus[group.status], 'add_note'];
}

interface GroupPlan {
  readonly title: string;
  readonly summary: string;
  readonly status: AlertGroup['status'];
  readonly severity: AlertGroup['severity_level'];
  readonly minutes: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly more?: Partial<AlertGroup>;
}

const PLANS: readonly GroupPlan[] = [
  {
    title: 'KubePodCrashLooping',
    summary: 'payments/api is restarting again and again',
    status: 'firing',
    severity: 'critical',
    minutes: 4,
    labels: { alertname: 'KubePodCrashLooping', severity: 'critical', cluster: 'prod-eu' },
    more: { urgent: true, next_notice: { kind: 'ack_timeout', at: minutesAgo(-11) } },
  },
  {
    title: 'DiskWillFillIn4Hours',
    summary: 'On db-7 the data volume fills up within four hours',
    status: 'acknowledged',
    severity: 'warning',
    minutes: 42,
    labels: {
      alertname: 'DiskWillFillIn4Hours',
      severity: 'warning',
      cluster: 'prod-eu',
      instance: 'db-7:9100',
    },
    more: { owner: ADA, next_notice: { kind: 'reminder', at: minutesAgo(-200) } },
  },
  {
    title: 'HighErrorRate checkout',
    summary: 'More than 5 % of requests fail',
    status: 'firing',
    severity: 'critical',
    minutes: 71,
    labels: { alertname: 'HighErrorRate', severity: 'critical', cluster: 'prod-us', service: 'checkout' },
    more: { urgent: true, unclaimed: true, reopen_count: 2, delivery_problem: true },
  },
  {
    title: 'CertificateExpiresSoon',
    summary: 'The certificate of shop.example.org ends in 13 days',
    status: 'snoozed',
    severity: 'info',
    minutes: 1_500,
    labels: { alertname: 'CertificateExpiresSoon', severity: 'info', host: 'shop.example.org' },
    more: { snooze_until: minutesAgo(-900), snoozed_by: { ...LINUS, kind: 'user' } },
  },
  {
    title: 'BackupTooOld',
    summary: 'The last backup of billing is older than a day',
    status: 'snoozed',
    severity: 'warning',
    minutes: 2_900,
    labels: { alertname: 'BackupTooOld', severity: 'warning', database: 'billing' },
    more: { snooze_until: null, snoozed_by: { ...ADA, kind: 'user' } },
  },
  {
    title: 'NodeMemoryPressure',
    summary: 'worker-12 has less than 5 % memory left',
    status: 'acknowledged',
    severity: 'critical',
    minutes: 190,
    labels: { alertname: 'NodeMemoryPressure', severity: 'critical', cluster: 'prod-eu', node: 'worker-12' },
    more: { owner: LINUS, urgent: true },
  },
  {
    title: 'QueueGrows with_a_very_long_name_that_does_not_fit_on_any_screen_because_nobody_thought_of_it',
    summary: 'Consumers are slower than producers',
    status: 'resolved',
    severity: 'warning',
    minutes: 380,
    labels: { alertname: 'QueueGrows', severity: 'warning', queue: 'mail' },
    more: {
      resolved_at: minutesAgo(300),
      resolution: {
        by: 'system',
        actor: null,
        reason: 'resolved',
        reason_text: 'The sender reported every Alert as resolved',
      },
    },
  },
  {
    title: 'LatencyHigh search',
    summary: 'p99 above two seconds',
    status: 'resolved',
    severity: 'warning',
    minutes: 600,
    labels: { alertname: 'LatencyHigh', severity: 'warning', service: 'search' },
    more: {
      resolved_at: minutesAgo(560),
      resolution: { by: 'user', actor: { ...ADA, kind: 'user' }, reason: null, reason_text: null },
      notices: [{ kind: 'alerts_still_firing', count: 2 }],
    },
  },
];

export function makeGroup(n: number, plan: GroupPlan): AlertGroup {
  const firing = plan.status === 'resolved' ? 0 : 1 + (n % 5);
  const base: AlertGroup = {
    id: mockId('AG', n),
    number: 1_200 - n,
    title: plan.title,
    summary: plan.summary,
    status: plan.status,
    owner: null,
    snooze_until: null,
    snoozed_by: null,
    severity_level: plan.severity,
    urgent: false,
    route:
      n % 3 === 0 ? { id: mockId('RT', 1), name: 'Payments' } : { id: mockId('RT', 2), name: 'Platform' },
    integrations: [{ id: mockId('NT', 1), name: 'Prometheus prod-eu' }],
    started_at: minutesAgo(plan.minutes),
    alerts_started_at: minutesAgo(plan.minutes),
    resolved_at: null,
    last_changed_at: minutesAgo(plan.minutes / 2),
    reopen_count: 0,
    firing_alert_count: firing,
    resolved_alert_count: 2,
    resolution: null,
    unclaimed: false,
    next_notice: null,
    delivery_problem: false,
    details_removed: false,
    group_labels: plan.labels,
    common_labels: { ...plan.labels, prometheus: 'monitoring/k8s', team: 'core' },
    common_annotations: {
      summary: plan.summary,
      description: 'See the dashboard first. Then look at https://wiki.example.org/runbooks/first-steps.',
      runbook_url: 'https://wiki.example.org/runbooks/pods',
    },
    label_values: {},
    notices: [],
    links: [
      { kind: 'runbook', name: 'Runbook', url: 'https://wiki.example.org/runbooks/pods', link_rule_id: null },
      { kind: 'source', name: 'Source', url: 'https://prometheus.example.org/graph', link_rule_id: null },
    ],
    allowed_commands: [],
    ...plan.more,
  };
  return { ...base, allowed_commands: allowedCommands(base) };
}

export function makeAlerts(group: AlertGroup): AlertItem[] {
  const total = group.firing_alert_count + group.resolved_alert_count;
  return Array.from({ length: total }, (_, index) => {
    const firing = index < group.firing_alert_count;
    return {
      fingerprint: `4b1d${String(index).padStart(12, '0')}`,
      integration: { id: mockId('NT', 1), name: 'Prometheus prod-eu' },
      labels: { ...group.common_labels, pod: `api-7f9c6d5b4-${index}x2k`, namespace: 'payments' },
      annotations: { ...group.common_annotations, value: `${index + 3} restarts` },
      state: firing ? 'firing' : 'resolved',
      resolve_reason: firing ? null : 'resolved',
      resolve_reason_text: firing ? null : 'The sender reported it as resolved',
      starts_at: group.started_at,
      resolved_at: firing ? null : minutesAgo(1),
      last_seen_at: minutesAgo(1),
      alertmanager_groups: ['{}/{team="core"}:{alertname="KubePodCrashLooping"}'],
      source_url: 'https://prometheus.example.org/graph?g0.expr=up',
    };
  });
}

const system = (reason: string) => ({ kind: 'system', reason }) as const;
const ada = {
  kind: 'user',
  id: ADA.id,
  name: ADA.name,
  login: ADA.login,
  token_name: null,
  transport: 'ui',
} as const;

export function makeTimeline(group: AlertGroup): TimelineEntry[] {
  const entry = (n: number, fields: Partial<TimelineEntry> & Pick<TimelineEntry, 'kind'>): TimelineEntry => ({
    id: mockId(fields.kind === 'delivery' ? 'DE' : 'TE', n),
    at: new Date(Date.parse(group.started_at) + n * 20_000).toISOString(),
    actor: system('alert'),
    ...fields,
  });
  const fingerprints = ['4b1d000000000000', '4b1d000000000001'];
  return [
    entry(0, { kind: 'status', event: 'created', loudness: 'loud', to_status: 'firing', fingerprints }),
    entry(1, {
      kind: 'delivery',
      delivery_event: 'publication',
      actor: system('delivery'),
      destination: { id: mockId('DS', 1), name: 'Phone relay' },
    }),
    entry(2, {
      kind: 'delivery',
      delivery_event: 'not_delivered',
      actor: system('delivery'),
      destination: { id: mockId('DS', 2), name: 'Ticket system' },
      error: 'HTTP 500: upstream is down',
    }),
    entry(3, { kind: 'alerts', event: 'alerts_added', loudness: 'loud', fingerprints }),
    entry(4, {
      kind: 'timers',
      event: 'ack_timeout',
      loudness: 'loud',
      actor: system('timer'),
      notice_number: 1,
    }),
    entry(5, {
      kind: 'status',
      event: 'acknowledged',
      loudness: 'quiet',
      from_status: 'firing',
      to_status: 'acknowledged',
      owner: ADA,
      actor: ada,
    }),
    entry(6, {
      kind: 'notes',
      event: 'note_added',
      loudness: 'quiet',
      actor: ada,
      note: {
        id: mockId('NE', 6),
        body: 'The last deploy is at fault, rolling back now. See https://ci.example.org/deploys/812',
        author: { ...ADA, kind: 'user' },
        transport: 'ui',
        created_at: group.started_at,
      },
    }),
    entry(7, {
      kind: 'status',
      event: 'takeover',
      loudness: 'loud',
      from_status: 'acknowledged',
      to_status: 'acknowledged',
      owner: LINUS,
      previous_owner: ADA,
      actor: { ...ada, id: LINUS.id, name: LINUS.name, transport: 'chat_server' },
    }),
    entry(9, {
      kind: 'timers',
      event: 'reminder',
      loudness: 'loud',
      mentions: ['owner'],
      actor: system('timer'),
      notice_number: 1,
    }),
    entry(10, { kind: 'timers', event: 'reminder_answered', loudness: 'quiet', actor: ada }),
    entry(11, {
      kind: 'status',
      event: 'auto_unacknowledged',
      loudness: 'loud',
      mentions: ['owner'],
      from_status: 'acknowledged',
      to_status: 'firing',
      previous_owner: LINUS,
      reason: 'reminders_unanswered',
      reason_text: 'The Owner did not answer two Reminders in a row',
      actor: system('reminders_unanswered'),
    }),
    entry(12, {
      kind: 'system',
      system_event: 'service_unavailable',
      period_from: minutesAgo(190),
      period_to: minutesAgo(100),
      actor: system('downtime'),
    }),
    entry(13, {
      kind: 'timers',
      event: 'notices_missed',
      loudness: 'loud',
      mentions: ['ack_timeout'],
      actor: system('timer'),
      missed_count: 3,
    }),
    entry(14, { kind: 'timers', event: 'unclaimed', loudness: 'quiet', actor: system('timer') }),
    entry(15, {
      kind: 'system',
      event: 'moved_to_default_route',
      system_event: 'moved_to_default_route',
      loudness: 'quiet',
      actor: system('route_moved'),
    }),
    entry(8, {
      kind: 'alerts',
      event: 'alert_replaced',
      loudness: 'quiet',
      replaced_label: 'pod',
      fingerprints,
    }),
  ];
}

const HEALTHY = { state: 'healthy', since: null, reason: null } as const;
const BROKEN = {
  state: 'broken',
  since: minutesAgo(35),
  reason: '401 Unauthorized: the token was refused',
} as const;

function makeDestination(n: number, name: string, broken: boolean): Destination {
  return {
    id: mockId('DS', n),
    type: 'webhook',
    name,
    mode: 'events',
    events: {
      url: 'https://relay.example.org/in',
      headers: [{ name: 'Authorization', value: 'Bearer {{ .Secrets.token }}' }],
    },
    mentions: MOCK_MENTIONS,
    limiter: { limit: 5, per_seconds: 1 },
    signing_secret_status: {
      set: true,
      updated_at: minutesAgo(9_000),
      previous_active_since: broken ? minutesAgo(60) : null,
    },
    health: broken ? BROKEN : HEALTHY,
    failing: null,
    waiting: 0,
    routes: [{ id: mockId('RT', 1), name: 'Payments' }],
    warnings: broken
      ? [{ kind: 'previous_signing_secret_active', field: null, line: null, since: minutesAgo(60) }]
      : [],
    template_error: null,
    created_at: minutesAgo(90_000),
    etag: '"1"',
  };
}

export function makeRoute(n: number, name: string, more: Partial<Route> = {}): Route {
  return {
    id: mockId('RT', n),
    name,
    description: '',
    matchers: [{ label: 'team', op: '=', value: name.toLowerCase() }],
    urgent: n === 1,
    group_key: ['alertname', 'severity', 'cluster'],
    destination_ids: [],
    policy: ON_CALL,
    position: n - 1,
    is_default: false,
    destinations: [],
    template_error: null,
    storm_active: false,
    storm: null,
    open_alert_group_count: 0,
    created_at: minutesAgo(90_000),
    etag: '"1"',
    ...more,
  };
}

export function makeIntegration(n: number, name: string, more: Partial<Integration> = {}): Integration {
  return {
    id: mockId('NT', n),
    name,
    description: '',
    connection_mode: 'webhook_only',
    static_labels: {},
    duplicate_window_seconds: 45,
    heartbeat: {
      enabled: false,
      timeout_seconds: 300,
      state: 'not_configured',
      url: 'https://ingest.example.org/api/v1/heartbeat',
      last_signal_at: null,
      lost_since: null,
    },
    builtin: false,
    ingest_url: 'https://ingest.example.org/api/v1/ingest',
    last_snapshot_at: null,
    snapshot_count: 0,
    warnings: [{ kind: 'heartbeat_not_configured' }],
    open_alert_group_count: 0,
    created_at: minutesAgo(90_000),
    etag: '"1"',
    ...more,
  };
}

export function createMockData(): MockData {
  const extra = Array.from({ length: 70 }, (_, index): GroupPlan => {
    const plan = PLANS[index % PLANS.length]!;
    return { ...plan, title: `${plan.title} ${index}`, minutes: 3_000 + index * 90 };
  });
  const groups = [...PLANS, ...extra].map((plan, index) => makeGroup(index, plan));
  const relay = makeDestination(1, 'Phone relay', false);
  const tickets = makeDestination(2, 'Ticket system', true);
  const reference = ({ id, name, type, health }: Destination) => ({ id, name, type, health });
  const lively = {
    last_snapshot_at: minutesAgo(1),
    snapshot_count: 48_211,
    open_alert_group_count: 14,
    static_labels: { cluster: 'prod-eu', region: 'eu-central-1' },
  };
  return {
    session: {
      user: mockUser(ADA.id, ADA.name, {
        ...{ login: ADA.login, role: 'admin', source: 'bootstrap', time_zone: 'Europe/Berlin' },
      }),
      state: 'active',
      csrf_token: 'csrf-1',
      method: 'local',
      expires_at: minutesAgo(-43_200),
      idle_expires_at: minutesAgo(-10_080),
      permissions: ALL_PERMISSIONS,
    },
    groups,
    alerts: new Map(groups.map((group) => [group.id, makeAlerts(group)])),
    notes: new Map(),
    timeline: new Map(groups.map((group) => [group.id, makeTimeline(group)])),
    deliveries: new Map(
      groups.map((group) => [
        group.id,
        [
          {
            destination: reference(relay),
            state: 'delivered',
            machine: null,
            thread_not_attached: false,
            possible_duplicate: false,
            message_url: null,
            error: null,
            updated_at: minutesAgo(3),
          },
          {
            destination: reference(tickets),
            state: 'waiting_for_broken_destination',
            machine: null,
            thread_not_attached: false,
            possible_duplicate: true,
            message_url: null,
            error: 'HTTP 401',
            updated_at: minutesAgo(2),
          },
        ],
      ]),
    ),
    integrations: [
      makeIntegration(0, 'Tocsin itself', { builtin: true, warnings: [] }),
      makeIntegration(1, 'Prometheus prod-eu', {
        ...lively,
        description: 'The HA pair of the European cluster',
        warnings: [
          { kind: 'heartbeat_lost', since: minutesAgo(18) },
          { kind: 'snapshot_truncated', truncated_group_count: 2 },
          { kind: 'long_repeat_interval', route_path: '{}/{team="core"}', repeat_interval_seconds: 14_400 },
        ],
        heartbeat: {
          enabled: true,
          timeout_seconds: 300,
          state: 'lost',
          url: 'https://ingest.example.org/api/v1/heartbeat',
          last_signal_at: minutesAgo(18),
          lost_since: minutesAgo(13),
        },
      }),
      makeIntegration(2, 'Prometheus staging'),
    ],
    tokens: new Map([
      [
        mockId('NT', 1),
        [{ id: mockId('NK', 1), name: 'first', created_at: minutesAgo(80_000), last_used_at: minutesAgo(1) }],
      ],
    ]),
    routes: [
      makeRoute(1, 'Payments', {
        description: 'Everything that touches money',
        destination_ids: [relay.id, tickets.id],
        destinations: [reference(relay), reference(tickets)],
        open_alert_group_count: 5,
        storm_active: true,
        storm: { since: minutesAgo(6), alert_group_count: 23 },
      }),
      makeRoute(2, 'Platform', {
        destination_ids: [relay.id],
        destinations: [reference(relay)],
        open_alert_group_count: 9,
        template_error: {
          since: minutesAgo(50),
          error: 'line 3: unknown field .Foo',
          template: 'line',
          fallback: 'fallback_template',
        },
      }),
      makeRoute(3, 'Search'),
      makeRoute(4, 'Default', { is_default: true, matchers: [] }),
    ],
    orderVersion: 1,
    destinations: [relay, tickets, MOCK_CHANNEL],
    secrets: new Map([[relay.id, [{ name: 'token', set: true, updated_at: minutesAgo(9_000) }]]]),
    sequence: 100,
    status: calmStatus(),
    notices: [],
  };
}
