/** The filters of the Alert Group list: read from and written to the address bar, and turned into API parameters. */
import type { Query } from '../../api/client.ts';
import type { AlertGroup, GroupStatus } from '../../api/shapes.ts';

export const TABS = ['open', 'firing', 'acknowledged', 'snoozed', 'resolved', 'all'] as const;
export type Tab = (typeof TABS)[number];

/** In the order of the tabs. */
export const STATUSES = [
  'firing',
  'acknowledged',
  'snoozed',
  'resolved',
] as const satisfies readonly GroupStatus[];

export const RANGES = ['1h', '24h', '7d', '30d', 'custom'] as const;
export type Range = (typeof RANGES)[number];

export const SORTS = ['-started_at', 'started_at', '-last_changed_at', 'last_changed_at'] as const;
export type Sort = (typeof SORTS)[number];

export const SEVERITIES = ['critical', 'warning', 'info'] as const;
export const FLAGS = ['urgent', 'unclaimed', 'delivery_problem', 'reopened', 'snoozed_no_end'] as const;
export type Flag = (typeof FLAGS)[number];
export const RESOLVERS = ['user', 'system', 'resolved', 'gone', 'stale', 'integration_deleted'] as const;
export type Resolver = (typeof RESOLVERS)[number];

export interface GroupFilters {
  readonly tab: Tab;
  /** Statuses of the tab that are left out. */
  readonly notStatuses: readonly GroupStatus[];
  readonly q: string;
  readonly routes: readonly string[];
  readonly integrations: readonly string[];
  readonly severities: readonly (typeof SEVERITIES)[number][];
  /** Those that must hold, and those that must not. */
  readonly flags: Readonly<Partial<Record<Flag, boolean>>>;
  /** `me`, `none`, or the id of a user. */
  readonly owner: string | null;
  /** Matchers in their text form, `name="value"`. */
  readonly labels: readonly string[];
  /** A person, the system, or one reason of the system. */
  readonly resolvedBy: Resolver | null;
  readonly range: Range;
  /** RFC 3339; only with the range `custom`. */
  readonly from: string | null;
  readonly to: string | null;
  readonly sort: Sort;
  /** Names of labels whose values the rows show. */
  readonly columns: readonly string[];
  /** Name of the label by whose values the rows are folded. */
  readonly fold: string | null;
  /** #N alone: every other filter rests. */
  readonly number: number | null;
}

export const NO_FILTERS: GroupFilters = {
  tab: 'open',
  notStatuses: [],
  q: '',
  routes: [],
  integrations: [],
  severities: [],
  flags: {},
  owner: null,
  labels: [],
  resolvedBy: null,
  range: '7d',
  from: null,
  to: null,
  sort: '-started_at',
  columns: [],
  fold: null,
  number: null,
};

const RANGE_SECONDS: Record<Exclude<Range, 'custom' | '7d'>, number> = {
  '1h': 3_600,
  '24h': 86_400,
  '30d': 30 * 86_400,
};

export const MAX_LABELS = 20;
export const MAX_COLUMNS = 20;
export const MAX_Q = 200;
export const MAX_LABEL_NAME = 200;
const ID = /^[A-Z]{2}[0-9A-Z]{12}$/;
const OWNER = /^(me|none|SR[0-9A-Z]{12})$/;

/** Reads the query string. Parameters that say nothing sensible are left out and named in `dropped`. */
export function parseFilters(search: string): { filters: GroupFilters; dropped: readonly string[] } {
  const params = new URLSearchParams(search);
  const dropped: string[] = [];

  function one<T extends string>(name: string, known: readonly T[]): T | null {
    const value = params.get(name);
    if (value === null) return null;
    const match = known.find((each) => each === value);
    if (match === undefined) dropped.push(name);
    return match ?? null;
  }
  function matching(name: string, form: RegExp): string | null {
    const value = params.get(name);
    if (value === null || form.test(value)) return value;
    dropped.push(name);
    return null;
  }
  function ids(name: string): readonly string[] {
    const values = [...new Set(params.getAll(name))];
    const known = values.filter((value) => ID.test(value));
    if (known.length < values.length) dropped.push(name);
    return known;
  }
  function instant(name: string): string | null {
    const value = params.get(name);
    if (value === null) return null;
    if (!Number.isNaN(Date.parse(value))) return value;
    dropped.push(name);
    return null;
  }

  function several<T extends string>(name: string, known: readonly T[]): readonly T[] {
    const values = new Set(params.getAll(name));
    const members = known.filter((each) => values.has(each));
    if (members.length < values.size) dropped.push(name);
    return members;
  }

  const severities = several('severity', SEVERITIES);
  const tab = one('tab', TABS) ?? 'open';
  const within = statusesOf(tab);
  const notStatuses = several('not_status', STATUSES).filter((status) => within.includes(status));
  const numberText = params.get('number');
  const number = numberText !== null && /^[1-9]\d{0,14}$/.test(numberText) ? Number(numberText) : null;
  if (numberText !== null && number === null) dropped.push('number');

  const filters: GroupFilters = {
    tab,
    notStatuses: notStatuses.length < within.length ? notStatuses : [],
    q: (params.get('q') ?? '').slice(0, MAX_Q),
    routes: ids('route'),
    integrations: ids('integration'),
    severities,
    flags: Object.fromEntries(
      FLAGS.flatMap((flag) => {
        const value = one(flag, ['true', 'false']);
        return value === null ? [] : [[flag, value === 'true']];
      }),
    ),
    owner: matching('owner', OWNER),
    labels: params.getAll('label').slice(0, MAX_LABELS),
    resolvedBy: one('resolved', RESOLVERS),
    range: one('range', RANGES) ?? '7d',
    from: instant('from'),
    to: instant('to'),
    sort: one('sort', SORTS) ?? '-started_at',
    columns: [...new Set(params.getAll('column'))].slice(0, MAX_COLUMNS),
    fold: (params.get('fold') ?? '').slice(0, MAX_LABEL_NAME) || null,
    number,
  };
  return { filters, dropped };
}

/** The query string of filters; defaults are left out, so that the plain list has a plain address. */
export function filtersToQuery(filters: GroupFilters): URLSearchParams {
  const params = new URLSearchParams();
  const set = (name: string, value: string | null, unless: string | null = null) => {
    if (value !== null && value !== '' && value !== unless) params.set(name, value);
  };
  const each = (name: string, values: readonly string[]) => {
    for (const value of values) params.append(name, value);
  };
  set('tab', filters.tab, 'open');
  each('not_status', filters.notStatuses);
  set('q', filters.q);
  each('severity', filters.severities);
  for (const flag of FLAGS) set(flag, flag in filters.flags ? String(filters.flags[flag]) : null);
  set('owner', filters.owner);
  each('route', filters.routes);
  each('integration', filters.integrations);
  each('label', filters.labels);
  set('resolved', filters.resolvedBy);
  set('range', filters.range, '7d');
  if (filters.range === 'custom') {
    set('from', filters.from);
    set('to', filters.to);
  }
  set('sort', filters.sort, '-started_at');
  each('column', filters.columns);
  set('fold', filters.fold);
  set('number', filters.number === null ? null : String(filters.number));
  return params;
}

/** Parameters of the counts: everything but status, sort and number. @param now ms since the epoch */
export function countQuery(filters: GroupFilters, now: number): Query {
  return {
    q: filters.q.trim(),
    route: filters.routes,
    integration: filters.integrations,
    severity: filters.severities,
    ...filters.flags,
    owner: filters.owner,
    label: filters.labels,
    ...resolvedQuery(filters.resolvedBy),
    ...rangeQuery(filters, now),
  };
}

/** Parameters of the list. @param now ms since the epoch */
export function listQuery(filters: GroupFilters, now: number): Query {
  const columns = { label_columns: filters.columns };
  if (filters.number !== null) return { number: filters.number, ...columns };
  return { ...countQuery(filters, now), status: shownStatuses(filters), sort: filters.sort, ...columns };
}

/**
 * Parameters of the folds by a label, or by the names of labels.
 * @param by null for the names
 * @param distinct labels whose values are counted
 * @param now ms since the epoch
 */
export function foldQuery(
  filters: GroupFilters,
  by: string | null,
  distinct: readonly string[],
  now: number,
): Query {
  return { ...countQuery(filters, now), status: shownStatuses(filters), by, distinct };
}

function resolvedQuery(resolver: Resolver | null): Query {
  if (resolver === null) return {};
  if (resolver === 'user' || resolver === 'system') return { resolved_by: resolver };
  return { resolved_by: 'system', resolve_reason: resolver };
}

function rangeQuery(filters: GroupFilters, now: number): Query {
  if (filters.range === 'custom') return { from: filters.from, to: filters.to };
  if (filters.range === '7d') return {};
  return { from: new Date(now - RANGE_SECONDS[filters.range] * 1_000).toISOString() };
}

export function statusesOf(tab: Tab): readonly GroupStatus[] {
  if (tab === 'open') return ['firing', 'acknowledged', 'snoozed'];
  if (tab === 'all') return STATUSES;
  return [tab];
}

/** The statuses of the tab without those that are left out. */
export function shownStatuses({
  tab,
  notStatuses,
}: Pick<GroupFilters, 'tab' | 'notStatuses'>): readonly GroupStatus[] {
  return statusesOf(tab).filter((status) => !notStatuses.includes(status));
}

/** The same without `resolved`. */
export function openStatuses(filters: Pick<GroupFilters, 'tab' | 'notStatuses'>): readonly GroupStatus[] {
  return shownStatuses(filters).filter((status) => status !== 'resolved');
}

/** Whether a changed group still belongs to what is shown, as far as the client can tell (labels and text it cannot). */
export function stillFits(group: AlertGroup, filters: GroupFilters, userId: string): boolean {
  if (filters.number !== null) return true;
  if (!shownStatuses(filters).includes(group.status)) return false;
  if (filters.severities.length > 0 && !filters.severities.includes(group.severity_level)) return false;
  if (filters.owner === 'me' && group.owner?.id !== userId) return false;
  if (filters.owner === 'none' && group.owner !== null) return false;
  if (filters.owner?.startsWith('SR') && group.owner?.id !== filters.owner) return false;
  const holds: Record<Flag, boolean> = {
    urgent: group.urgent,
    unclaimed: group.unclaimed,
    delivery_problem: group.delivery_problem,
    reopened: group.reopen_count > 0,
    snoozed_no_end: group.status === 'snoozed' && group.snooze_until === null,
  };
  return FLAGS.every((flag) => filters.flags[flag] === undefined || filters.flags[flag] === holds[flag]);
}

/** Whether anything narrows the list besides the tab, its order and what it shows of a row. */
export function isFiltered(filters: GroupFilters): boolean {
  const narrowed: GroupFilters = { ...filters, tab: 'open', sort: '-started_at', columns: [], fold: null };
  return filtersToQuery(narrowed).size > 0;
}

export function labelMatcher(name: string, value: string, exclude: boolean): string {
  const plain = /^[A-Za-z_:][A-Za-z0-9_:]*$/.test(name) ? name : quote(name);
  return `${plain}${exclude ? '!=' : '='}${quote(value)}`;
}

export function quote(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
