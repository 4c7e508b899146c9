/** What the statistics page shows, as the address bar says it, and what that asks of the API (ui §5). */
import type { Query } from '../../api/client.ts';
import type { GroupBy } from '../../api/statistics.ts';
import { addDays, fromZoned, isTimeZone, toZonedDate } from '../../time/zoned.ts';

export const GROUPINGS = ['route', 'integration'] as const satisfies readonly GroupBy[];
export const PERIODS = ['1d', '2d', '7d', '30d', '90d', 'custom'] as const;
export type Period = (typeof PERIODS)[number];

export const COLUMNS = [
  'name',
  'count',
  'acknowledged',
  'ack_median',
  'ack_p95',
  'resolved',
  'resolve_median',
  'resolve_p95',
] as const;
export type Column = (typeof COLUMNS)[number];

export interface Choices {
  readonly by: GroupBy;
  readonly period: Period;
  /** First and last local date, both included; only with the period `custom`. */
  readonly from: string | null;
  readonly to: string | null;
  /** Routes or Integrations, after `by`; none is all of them. */
  readonly subjects: readonly string[];
  /** Null: the viewer's own. */
  readonly zone: string | null;
  /** Null: the order of the service. */
  readonly sort: { readonly column: Column; readonly descending: boolean } | null;
  /** Subjects whose days are shown. */
  readonly open: readonly string[];
}

export interface Days {
  /** First and last local date, both included. */
  readonly first: string;
  readonly last: string;
}

const PERIOD_DAYS: Record<Exclude<Period, 'custom'>, number> = {
  '1d': 1,
  '2d': 2,
  '7d': 7,
  '30d': 30,
  '90d': 90,
};
/** More bars than this are no picture any more. */
const MAX_DAYS = 366;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Reads the query string. What says nothing sensible is left out and named in `dropped`. */
export function parseChoices(search: string): { choices: Choices; dropped: readonly string[] } {
  const params = new URLSearchParams(search);
  const dropped: string[] = [];
  function take<T>(name: string, read: (value: string) => T | null): T | null {
    const value = params.get(name);
    if (value === null) return null;
    const result = read(value);
    if (result === null) dropped.push(name);
    return result;
  }
  const date = (value: string) => (DATE.test(value) && fromZoned(value, 'UTC') !== null ? value : null);

  const by = take('by', (value) => GROUPINGS.find((each) => each === value) ?? null) ?? 'route';
  const period = take('period', (value) => PERIODS.find((each) => each === value) ?? null) ?? '7d';
  const from = take('from', date);
  const to = take('to', date);
  const complete = period !== 'custom' || (from !== null && to !== null && isRange(from, to));
  if (!complete) dropped.push('period');
  const custom = period === 'custom' && complete;
  const choices: Choices = {
    by,
    period: complete ? period : '7d',
    from: custom ? from : null,
    to: custom ? to : null,
    subjects: params.getAll(by),
    zone: take('zone', (value) => (isTimeZone(value) ? value : null)),
    sort: take('sort', readSort),
    open: params.getAll('open'),
  };
  return { choices, dropped };
}

/** Whether two dates bound a period that can be shown: not turned round, at most {@link MAX_DAYS} long. */
export function isRange(from: string, to: string): boolean {
  return from <= to && addDays(from, MAX_DAYS) > to;
}

function readSort(value: string): Choices['sort'] {
  const descending = value.startsWith('-');
  const column = COLUMNS.find((each) => each === (descending ? value.slice(1) : value));
  return column === undefined ? null : { column, descending };
}

/** The query string of choices; defaults are left out. */
export function choicesToQuery(choices: Choices): URLSearchParams {
  const params = new URLSearchParams();
  if (choices.by !== 'route') params.set('by', choices.by);
  if (choices.period !== '7d') params.set('period', choices.period);
  if (choices.period === 'custom' && choices.from !== null && choices.to !== null) {
    params.set('from', choices.from);
    params.set('to', choices.to);
  }
  for (const id of choices.subjects) params.append(choices.by, id);
  if (choices.zone !== null) params.set('zone', choices.zone);
  if (choices.sort !== null)
    params.set('sort', `${choices.sort.descending ? '-' : ''}${choices.sort.column}`);
  for (const id of choices.open) params.append('open', id);
  return params;
}

/** The local dates a choice covers: whole days, today included. @param now ms since the epoch */
export function daysOf(choices: Choices, zone: string, now: number): Days {
  if (choices.period === 'custom' && choices.from !== null && choices.to !== null) {
    return { first: choices.from, last: choices.to };
  }
  const last = toZonedDate(now, zone);
  const length = PERIOD_DAYS[choices.period === 'custom' ? '7d' : choices.period];
  return { first: addDays(last, 1 - length), last };
}

/** Instants `[from, to)` of whole local days. */
export function boundsOf(days: Days, zone: string): { readonly from: string; readonly to: string } {
  const at = (date: string) => new Date(fromZoned(date, zone) ?? Date.parse(date)).toISOString();
  return { from: at(days.first), to: at(addDays(days.last, 1)) };
}

const LONGEST_FLOW_MS = 92 * 86_400_000;

/** Parameters of getAlertGroupFlow: the end of a longer period. @param now ms since the epoch */
export function flowQuery(choices: Choices, zone: string, now: number): Query {
  const { from, to } = boundsOf(daysOf(choices, zone, now), zone);
  const earliest = Date.parse(to) - LONGEST_FLOW_MS;
  return { from: Date.parse(from) < earliest ? new Date(earliest).toISOString() : from, to };
}

/** Parameters of getAlertGroupStatistics. @param now ms since the epoch */
export function statisticsQuery(choices: Choices, zone: string, now: number): Query {
  return {
    group_by: choices.by,
    [choices.by]: choices.subjects,
    ...boundsOf(daysOf(choices, zone, now), zone),
    time_zone: zone,
  };
}
