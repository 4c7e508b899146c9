/** One complete reading of a view of the wall: its tiles, and what is known of those without room (ui §3.1). */
import type { AlertGroupsApi } from '../../api/alert-groups.ts';
import type { Answer, Query } from '../../api/client.ts';
import type { AlertGroup, GroupCounts } from '../../api/shapes.ts';
import { readRows } from '../../state/pages.svelte.ts';
import { type GroupFilters, shownStatuses } from '../alert-group-list/filters.ts';
import { readingsOf, urgentQuery } from './wall.ts';

/** Pages after the first of each list, all together: the service may end a page early, even before its first row. */
const MOST_FURTHER_PAGES = 8;

export interface Tiles {
  readonly groups: readonly AlertGroup[];
  /** Whether those are all. */
  readonly isWhole: boolean;
  /** Whether it is known that nothing critical or Urgent fires in the view, shown or not. */
  readonly isCalm: boolean;
}

/**
 * Nothing is read behind a list that did not come to its end: it could hold what is more urgent.
 * @param most tiles there is room for
 * @param now ms since the epoch
 */
export async function readTiles(
  list: AlertGroupsApi['list'],
  filters: GroupFilters,
  most: number,
  now: number,
): Promise<Answer<Tiles>> {
  let furtherPages = MOST_FURTHER_PAGES;
  const rowsOf = (query: Query, limit: number) =>
    readRows(
      (page) => {
        if (page.cursor !== null) furtherPages -= 1;
        return list(query, page);
      },
      { cursor: null, limit },
      1 + furtherPages,
    );

  const groups: AlertGroup[] = [];
  const unread = [...readingsOf(filters, now)];
  for (let query = unread[0]; query !== undefined && groups.length < most; query = unread[0]) {
    const rows = await rowsOf(query, most - groups.length);
    if (!rows.ok) return rows;
    groups.push(...rows.value.items.filter(({ id }) => groups.every((group) => group.id !== id)));
    if (rows.value.next_cursor !== null) break;
    unread.shift();
  }

  const tiles = (isCalm: boolean): Answer<Tiles> => ({
    ok: true,
    value: { groups, isWhole: unread.length === 0, isCalm },
    etag: null,
  });
  if (groups.some(isLoud)) return tiles(false);
  const isFiringRead = !unread.some(({ status }) => Array.isArray(status) && status.includes('firing'));
  if (isFiringRead) return tiles(true);
  // With room left, even the critical ones may not all have been found.
  if (groups.length < most) return tiles(false);
  const query = urgentQuery(filters, now);
  if (query === null) return tiles(true);
  const urgent = await rowsOf(query, 1);
  if (!urgent.ok) return urgent;
  return tiles(urgent.value.items.length === 0 && urgent.value.next_cursor === null);
}

function isLoud({ status, urgent, severity_level }: AlertGroup): boolean {
  return status === 'firing' && (urgent || severity_level === 'critical');
}

/** What became of a reading: `refused`, when the service refuses the filters of the view. */
export type Outcome = 'read' | 'refused' | 'failed';

interface Turns<View> {
  /** At least one. */
  readonly views: readonly View[];
  readonly secondsOfView: number;
  read(view: View): Promise<Outcome>;
  /** Between two readings. */
  pauseMs(): number;
}

/**
 * Reads each view for its time, over and over. One whose filters are refused gives its turn to the next one; a read
 * that throws counts as failed.
 */
export async function keepReading<View>(
  { views, secondsOfView, read, pauseMs }: Turns<View>,
  signal: AbortSignal,
): Promise<void> {
  let index = 0;
  let refusals = 0;
  let viewSince = Date.now();
  const turn = () => {
    index = (index + 1) % views.length;
    viewSince = Date.now();
  };
  for (let view = views[index]; view !== undefined && !signal.aborted; view = views[index]) {
    const outcome = await read(view).catch((error) => reportError(error));
    refusals = outcome === 'refused' ? refusals + 1 : 0;
    if (refusals > 0 && refusals % views.length !== 0) {
      turn();
      continue;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs()));
    if (refusals > 0 || Date.now() - viewSince >= secondsOfView * 1_000) turn();
  }
}

/** How many groups the view has besides those that are shown. The counts know nothing of a view of one number. */
export function moreOf(filters: GroupFilters, counts: GroupCounts, shown: number): number {
  if (filters.number !== null) return 0;
  return Math.max(0, shownStatuses(filters).reduce((sum, status) => sum + counts[status], 0) - shown);
}
