/** What is asked of a full database: the pages that people open most, each filter, and the dearest of each kind. */
import type {
  AlertsViewQuery,
  GroupFilter,
  GroupListQuery,
  StatisticsQuery,
} from '../../actors/alert-group/reading/readers.ts';
import type { Directory, Matcher } from '../../actors/directory.ts';
import { EXPLORE } from '../../actors/links/configuration.ts';
import { createGroupLinks } from '../../actors/links/evaluate.ts';
import { configurationOf, ruleOf } from '../../actors/links/links.fixture.ts';
import { type Micros, systemMonotonic } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  createAlertsView,
  createGroupReader,
  createStatisticsReader,
  createTemplateGroups,
  type RecentGroups,
} from '../../storage/alert-groups/alert-groups.ts';
import type { Sql } from '../../storage/postgres/records.ts';

export interface Question {
  readonly what: string;
  /** p99, ms. */
  readonly goal: number;
  /** How often it is asked before it is measured. */
  readonly warmups?: number;
  /** @param turn counts the askings, for what varies */
  ask(turn: number): Promise<unknown>;
}

const LIST = 20;
const FOLDS = 200;
const STATISTICS = 1_000;
const OPEN = ['firing', 'acknowledged', 'snoozed'] as const;
const route = (n: number) => `RT${String(n).padStart(12, '0')}` as PublicId;
const integration = (n: number) => `NT${String(n).padStart(12, '0')}` as PublicId;
/** Another one of 9,973 each time. */
const host = (turn: number) => `host-${(turn * 97) % 9_973}`;
const user = (n: number) => `SR${String(n).padStart(12, '0')}` as PublicId;

/** Explore and four more, one of them for each value of a label. */
const LINKS = configurationOf(
  [
    EXPLORE,
    ...['Wiki', 'Runs', 'Team'].map((name) =>
      ruleOf({
        name,
        url_template: `https://${name}.example/{{ .Labels.alertname | toLower | urlPathEscape }}`,
      }),
    ),
    ruleOf({
      ...{ name: 'Logs', scope: { type: 'label_value', label: 'host' } },
      url_template: 'https://logs.example/?q={{ printf "%s %s" .Labels.namespace .Value | urlquery }}',
    }),
  ],
  {
    grafana: {
      columns: ['address', 'datasource_uid'],
      rows: Array.from({ length: 7 }, (_, n) => [`cluster-${n}`, 'https://grafana.example/', 'P1']),
    },
  },
);

/** @param recent what the service holds in memory after its first list */
export function questions(sql: Sql, now: Micros, day: Micros, recent: RecentGroups): readonly Question[] {
  const reader = createGroupReader(sql, systemMonotonic, recent);
  const view = createAlertsView(sql);
  const figures = createStatisticsReader(sql);

  /** The default list of the API. */
  const base: GroupFilter = {
    ...{ statuses: OPEN, routeIds: [], integrationIds: [], severities: [], urgent: null },
    urgency: { routeIds: [10, 20, 30, 40, 50].map(route), critical: true },
    ...{ resolvedBy: null, resolveReason: null, reopened: null, owner: null, snoozedNoEnd: null },
    ...{ unclaimed: null, deliveryProblem: null, matchers: [], from: now - 7 * day, to: null },
    ...{ number: null, text: null },
  };
  const page = (filter: Partial<GroupFilter>, more: Partial<GroupListQuery> = {}) =>
    reader.list({
      ...{ filter: { ...base, ...filter }, sort: 'started_at', descending: true, after: null, limit: 50 },
      ...more,
    });
  const matcher = (label: string, op: Matcher['op'], value: string) => ({ matchers: [{ label, op, value }] });
  const list = (
    what: string,
    filter: (turn: number) => Partial<GroupFilter>,
    more?: Partial<GroupListQuery>,
  ) => ({
    what: `list ${what}`,
    goal: LIST,
    ask: (turn: number) => page(filter(turn), more),
  });
  const counts = (what: string, filter: (turn: number) => Partial<GroupFilter>) => ({
    what: `counts ${what}`,
    goal: LIST,
    ask: (turn: number) => reader.counts({ ...base, statuses: [], ...filter(turn) }),
  });
  const folds = (what: string, by: string | null, filter: (turn: number) => Partial<GroupFilter>) => ({
    what: `folds ${what}`,
    goal: FOLDS,
    ask: (turn: number) =>
      reader.folds({
        filter: { ...base, ...filter(turn) },
        ...{ by, distinct: by === null ? [] : ['cluster', 'host'] },
      }),
  });
  const statistics = (what: string, query: Partial<StatisticsQuery>) => ({
    what: `statistics ${what}`,
    goal: STATISTICS,
    warmups: 1,
    ask: () =>
      figures.read({
        ...{ groupBy: 'route', subjectIds: [], from: now - 7 * day, to: now, timeZone: 'Europe/Berlin' },
        ...query,
      }),
  });

  const links = createGroupLinks({
    links: { current: () => LINKS },
    alerts: createTemplateGroups(sql),
    failures: { report: () => undefined },
    publicUrl: 'https://tocsin.example',
    monotonic: systemMonotonic,
  });
  const organization = { timeZone: 'Europe/Berlin', criticalIsUrgent: true };
  const directory = { organization, routesById: new Map(), usersById: new Map() } as unknown as Directory;

  return [
    list('as it opens', () => ({})),
    {
      what: 'list as it opens, with the links of five Link rules',
      goal: LIST,
      ask: async () => links.of((await page({})).items, { directory, now }),
    },
    list('of everything', () => ({ statuses: [...OPEN, 'resolved'] })),
    list('of resolved ones', () => ({ statuses: ['resolved'] })),
    list('by last change', () => ({}), { sort: 'last_changed_at' }),
    list('of everything by last change', () => ({ statuses: [...OPEN, 'resolved'] }), {
      sort: 'last_changed_at',
    }),
    list('of a Route', (turn) => ({ routeIds: [route(1 + (turn % 50))] })),
    list('of an Integration', (turn) => ({ integrationIds: [integration(1 + (turn % 20))] })),
    list('of an Owner', (turn) => ({ owner: { id: user(turn % 30) } })),
    list('without Owner', () => ({ owner: { id: null } })),
    list('that is Urgent', () => ({ urgent: true })),
    list('that is unclaimed', () => ({ unclaimed: true })),
    list('with a delivery problem', () => ({ deliveryProblem: true })),
    list('snoozed without end', () => ({ snoozedNoEnd: true })),
    list('by number', (turn) => ({ statuses: [], from: null, number: 1 + ((turn * 9_973) % 1_100_000) })),
    list('by a rare label', (turn) => matcher('host', '=', host(turn))),
    list('by a common label', () => matcher('cluster', '=', 'cluster-3')),
    list('by a label of one in forty', (turn) => matcher('namespace', '=', `team-${turn % 40}`)),
    list('by a rare label, resolved too', (turn) => ({
      ...matcher('host', '=', host(turn)),
      ...{ statuses: [...OPEN, 'resolved'], from: null },
    })),
    list('by an expression', (turn) => matcher('host', '=~', `${host(turn)}\\d`)),
    list('by an expression, resolved too', (turn) => ({
      ...matcher('host', '=~', `${host(turn)}\\d`),
      ...{ statuses: [...OPEN, 'resolved'], from: null },
    })),
    list('by a label that is not', () => matcher('cluster', '!=', 'cluster-3')),
    list('by text', (turn) => ({ text: host(turn) })),
    list('by text, resolved too', (turn) => ({
      ...{ text: `Alert${turn} on ${host(turn)}` },
      ...{ statuses: [...OPEN, 'resolved'], from: null },
    })),
    list('by text that nothing holds', () => ({ text: 'nothing like it' })),
    list('by text that all hold', () => ({ text: 'something is wrong' })),
    counts('as it opens', () => ({})),
    counts('of a Route', (turn) => ({ routeIds: [route(1 + (turn % 50))] })),
    counts('by a rare label', (turn) => matcher('host', '=', host(turn))),
    counts('by a common label', () => matcher('cluster', '=', 'cluster-3')),
    counts('by an expression', (turn) => matcher('host', '=~', `${host(turn)}\\d`)),
    folds('of the open ones by a common label', 'namespace', () => ({})),
    folds('of the open ones by a rare label', 'host', () => ({})),
    folds('of the open ones by the names of their labels', null, () => ({})),
    folds('of those with a label by the names', null, (turn) =>
      matcher('namespace', '=', `team-${turn % 40}`),
    ),
    folds('of those with a label', 'host', (turn) => matcher('namespace', '=', `team-${turn % 40}`)),
    {
      what: 'Alerts of an Integration',
      goal: 50,
      ask: (turn) => view.list(alertsOf(integration(1 + (turn % 20))), now),
    },
    statistics('of 7 days', {}),
    statistics('of 90 days', { from: now - 90 * day }),
    statistics('of 90 days by Integration', { from: now - 90 * day, groupBy: 'integration' }),
    statistics('of everything', { from: 0 }),
  ];
}

function alertsOf(integrationId: PublicId): AlertsViewQuery {
  return {
    ...{ integrationId, state: null, matchers: [], text: null, after: null, limit: 50 },
    ...{ sort: 'last_seen_at', descending: true },
  };
}
