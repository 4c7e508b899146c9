/** The Alert Group page's way along the list that it was opened from (ui §4). */
import type { AlertGroup } from '../../api/shapes.ts';
import { type GroupFilters, parseFilters, type Sort } from './filters.ts';

/** Rows that are loaded in search of a group that is not among them. */
const MOST_ROWS = 500;

export interface Place {
  readonly previous: AlertGroup | null;
  readonly next: AlertGroup | null;
  /** The group is a row, or belongs between two rows; otherwise it may be behind those that are loaded. */
  readonly isKnown: boolean;
}

/** The filters of the list at this address; null when it is another page, or the search for one number. */
export function listFilters(address: string | null): GroupFilters | null {
  const [path, search = ''] = address?.split('?') ?? [];
  if (path !== '/alert-groups') return null;
  const { filters } = parseFilters(search);
  return filters.number === null ? filters : null;
}

/** Where a group is in the list: as a row, or by the order of the list when it is none, since it left the filters. */
export function placeOf(group: AlertGroup, rows: readonly AlertGroup[], sort: Sort): Place {
  const at = rows.findIndex(({ id }) => id === group.id);
  const behind = at >= 0 ? at + 1 : rows.findIndex((row) => order(group, row, sort) < 0);
  const from = behind >= 0 ? behind : rows.length;
  return {
    previous: rows[(at >= 0 ? at : from) - 1] ?? null,
    next: rows[from] ?? null,
    isKnown: behind >= 0,
  };
}

/** Whether further rows are needed: the group may be among them, or the next one is. */
export function needsMore({ next, isKnown }: Place, rows: number): boolean {
  return next === null && (isKnown || rows < MOST_ROWS);
}

/** Negative when `one` comes before `other`. Numbers decide between equal instants, as on the server. */
function order(one: AlertGroup, other: AlertGroup, sort: Sort): number {
  const column = sort.endsWith('started_at') ? 'started_at' : 'last_changed_at';
  const later = Date.parse(one[column]) - Date.parse(other[column]) || one.number - other.number;
  return sort.startsWith('-') ? -later : later;
}
