/** Rows of the statistics: their order, what they add up to, every day of the period, and the same as CSV (ui §5). */
import type { DayFigures, DurationFigures, Figures, StatisticsItem } from '../../api/system.ts';
import { addDays } from '../../time/zoned.ts';
import type { Choices, Column, Days } from './choices.ts';

const NOTHING: DurationFigures = { count: 0, median_seconds: null, p95_seconds: null };

/** The number in a column; null where there is none. */
export function numberIn(column: Exclude<Column, 'name'>, figures: Figures): number | null {
  const { alert_group_count, time_to_acknowledge, time_to_resolve } = figures;
  switch (column) {
    case 'count':
      return alert_group_count;
    case 'acknowledged':
      return time_to_acknowledge.count;
    case 'ack_median':
      return time_to_acknowledge.median_seconds;
    case 'ack_p95':
      return time_to_acknowledge.p95_seconds;
    case 'resolved':
      return time_to_resolve.count;
    case 'resolve_median':
      return time_to_resolve.median_seconds;
    case 'resolve_p95':
      return time_to_resolve.p95_seconds;
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

/** How many Alert Groups the items have together. */
export function totalCount(items: readonly StatisticsItem[]): number {
  return items.reduce((sum, item) => sum + item.alert_group_count, 0);
}

const COLUMNS_OF_CSV = [
  'count',
  'acknowledged',
  'ack_median',
  'ack_p95',
  'resolved',
  'resolve_median',
  'resolve_p95',
] as const;

/** RFC 4180 text of the rows as they are shown, durations in seconds. @param heads one for the name and each column */
export function toCsv(items: readonly StatisticsItem[], heads: Readonly<Record<Column, string>>): string {
  const lines = [
    [heads.name, ...COLUMNS_OF_CSV.map((column) => heads[column])],
    ...items.map((item) => [
      item.subject.name,
      ...COLUMNS_OF_CSV.map((column) => String(numberIn(column, item) ?? '')),
    ]),
  ];
  return `${lines.map((cells) => cells.map(cell).join(',')).join('\r\n')}\r\n`;
}

/** A name that a spreadsheet would take for a formula gets an apostrophe. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
