/** Rows of the statistics: their order, what they add up to, every day of the period, and the same as CSV (ui §5). */
import type {
  DayFigures,
  DurationFigures,
  Figures,
  HourFigures,
  NoiseFigures,
  Statistics,
  StatisticsItem,
} from '../../api/statistics.ts';
import { addDays } from '../../time/zoned.ts';
import type { Choices, Column, Days } from './choices.ts';

const NOTHING: DurationFigures = {
  count: 0,
  ...{ median_seconds: null, p90_seconds: null, p95_seconds: null, p99_seconds: null },
};

/** What the CSV has beside the columns of the table: the percentiles that an opened row shows. */
type CsvColumn = Column | 'ack_p90' | 'ack_p99' | 'resolve_p90' | 'resolve_p99';

/** The number in a column; null where there is none. */
export function numberIn(column: Exclude<CsvColumn, 'name'>, figures: Figures): number | null {
  const { alert_group_count, time_to_acknowledge, time_to_resolve } = figures;
  switch (column) {
    case 'count':
      return alert_group_count;
    case 'acknowledged':
      return time_to_acknowledge.count;
    case 'ack_median':
      return time_to_acknowledge.median_seconds;
    case 'ack_p90':
      return time_to_acknowledge.p90_seconds;
    case 'ack_p95':
      return time_to_acknowledge.p95_seconds;
    case 'ack_p99':
      return time_to_acknowledge.p99_seconds;
    case 'resolved':
      return time_to_resolve.count;
    case 'resolve_median':
      return time_to_resolve.median_seconds;
    case 'resolve_p90':
      return time_to_resolve.p90_seconds;
    case 'resolve_p95':
      return time_to_resolve.p95_seconds;
    case 'resolve_p99':
      return time_to_resolve.p99_seconds;
  }
}

/** Items in the chosen order; what has no number stands last in both directions. */
export function sorted(
  items: readonly StatisticsItem[],
  sort: Choices['sort'],
  locale: string,
): readonly StatisticsItem[] {
  if (sort === null) return items;
  const { column, descending } = sort;
  const sign = descending ? -1 : 1;
  if (column === 'name') {
    const names = new Intl.Collator(locale, { numeric: true });
    return items.toSorted((one, other) => sign * names.compare(one.subject.name, other.subject.name));
  }
  return items.toSorted((one, other) => {
    const [a, b] = [numberIn(column, one), numberIn(column, other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (a - b);
  });
}

/** The next order when a column's head is pressed: numbers largest first, names from A, then round, then the service's. */
export function nextSort(sort: Choices['sort'], column: Column): Choices['sort'] {
  const first = column !== 'name';
  if (sort?.column !== column) return { column, descending: first };
  return sort.descending === first ? { column, descending: !first } : null;
}

/** Figures of every day of the period: the service leaves out days without any Alert Group. */
export function everyDay(perDay: readonly DayFigures[], days: Days): readonly DayFigures[] {
  const known = new Map(perDay.map((day) => [day.date, day]));
  const all: DayFigures[] = [];
  for (let date = days.first; date <= days.last; date = addDays(date, 1)) {
    const nothing = { date, alert_group_count: 0, time_to_acknowledge: NOTHING, time_to_resolve: NOTHING };
    all.push(known.get(date) ?? nothing);
  }
  return all;
}

const HOURS = 24;
/** A Monday; the six days after it have the names of the others. */
const MONDAY = Date.UTC(2026, 0, 5);
const DAY_MS = 86_400_000;

interface Named {
  readonly short: string;
  readonly full: string;
}

export interface Week {
  /** From Monday. */
  readonly days: readonly Named[];
  /** From midnight. */
  readonly hours: readonly Named[];
  /** By day, then hour. */
  readonly counts: readonly (readonly number[])[];
  /** The largest count. */
  readonly top: number;
  /** Where the largest count is first; null without any. */
  readonly busiest: { readonly count: number; readonly when: { day: string; hour: string } } | null;
}

/** Every hour of the week, those without an Alert Group too. */
export function weekOf(perHour: readonly HourFigures[], locale: string): Week {
  const names = (weekday: 'short' | 'long') => new Intl.DateTimeFormat(locale, { weekday, timeZone: 'UTC' });
  const [short, long] = [names('short'), names('long')];
  const days = Array.from({ length: 7 }, (_, day) => {
    const at = MONDAY + day * DAY_MS;
    return { short: short.format(at), full: long.format(at) };
  });
  const hours = Array.from({ length: HOURS }, (_, hour) => {
    const digits = String(hour).padStart(2, '0');
    return { short: digits, full: `${digits}:00` };
  });
  const counts = days.map(() => hours.map(() => 0));
  let most: HourFigures | undefined;
  for (const one of perHour) {
    counts[one.weekday - 1]?.splice(one.hour, 1, one.alert_group_count);
    if (one.alert_group_count > (most?.alert_group_count ?? 0)) most = one;
  }
  const top = most?.alert_group_count ?? 0;
  const [day, hour] = most ? [days[most.weekday - 1]?.full, hours[most.hour]?.full] : [];
  const busiest = day === undefined || hour === undefined ? null : { count: top, when: { day, hour } };
  return { days, hours, counts, top, busiest };
}

/** How many Alert Groups the items have together. */
export function totalCount(items: readonly StatisticsItem[]): number {
  return items.reduce((sum, item) => sum + item.alert_group_count, 0);
}

const COLUMNS_OF_CSV = [
  'count',
  'acknowledged',
  'ack_median',
  'ack_p90',
  'ack_p95',
  'ack_p99',
  'resolved',
  'resolve_median',
  'resolve_p90',
  'resolve_p95',
  'resolve_p99',
] as const;

type Cells = readonly (readonly string[])[];

/** Routes or Integrations as the CSV has them, durations in seconds. @param heads one for the name and each column */
export function itemCells(
  items: readonly StatisticsItem[],
  heads: Readonly<Record<CsvColumn, string>>,
): Cells {
  return [
    [heads.name, ...COLUMNS_OF_CSV.map((column) => heads[column])],
    ...items.map((item) => [
      item.subject.name,
      ...COLUMNS_OF_CSV.map((column) => String(numberIn(column, item) ?? '')),
    ]),
  ];
}

/** A row for each day of the week, a column for each hour. @param head of the days */
export function weekCells({ days, hours, counts }: Week, head: string): Cells {
  return [
    [head, ...hours.map(({ full }) => full)],
    ...days.map(({ full }, day) => [full, ...(counts[day] ?? []).map(String)]),
  ];
}

/** What the names of Alerts are counted by, in the order of columns. */
export const NOISE = [
  'alert_group_count',
  'reopen_count',
  'acknowledged_count',
  'self_resolved_count',
] as const satisfies readonly (keyof NoiseFigures)[];

/** Of the rest, which is left out when it is empty, `rest` is the name. */
export function noiseCells(
  { noisiest, noisiest_rest }: Pick<Statistics, 'noisiest' | 'noisiest_rest'>,
  rest: string,
  shown: (column: (typeof NOISE)[number], figures: NoiseFigures) => string = (column, figures) =>
    String(figures[column]),
): Cells {
  const cells = (figures: NoiseFigures) => NOISE.map((column) => shown(column, figures));
  return [
    ...noisiest.map((one) => [one.alert_name, ...cells(one)]),
    ...(noisiest_rest.alert_group_count > 0 ? [[rest, ...cells(noisiest_rest)]] : []),
  ];
}

/** First the name; of the rest, which is left out when it is empty, `rest` is the name. Durations are in seconds. */
export function personCells(
  { by_person, by_person_rest }: Pick<Statistics, 'by_person' | 'by_person_rest'>,
  { rest, gone }: { readonly rest: string; readonly gone: string },
  shown: (value: number) => string = String,
  took: (seconds: number | null) => string = (seconds) => String(seconds ?? ''),
): Cells {
  const { acknowledged_count, resolved_count } = by_person_rest;
  return [
    ...by_person.map(({ user, ...deeds }) => [
      user.deactivated ? `${user.name} ${gone}` : user.name,
      ...[shown(deeds.acknowledged_count), shown(deeds.resolved_count)],
      took(deeds.time_to_acknowledge_median_seconds),
    ]),
    ...(acknowledged_count + resolved_count > 0
      ? [[rest, shown(acknowledged_count), shown(resolved_count), took(null)]]
      : []),
  ];
}

/** RFC 4180 text: tables one below the other, with an empty line between them. */
export function toCsv(tables: readonly Cells[]): string {
  const lines = (rows: Cells) => rows.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
  return tables.map(lines).join('\r\n');
}

/** A name that a spreadsheet would take for a formula gets an apostrophe. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
