/** Lists and counts of Alert Groups out of memory, as far as what is asked for is there. */
import type { GroupFilter, GroupListQuery, GroupPage } from '../../../actors/alert-group/reading/readers.ts';
import { BusyError } from '../../../runtime/actor/index.ts';
import type { Pace } from '../../../runtime/pace.ts';
import { numberArray } from '../../postgres/bulk-parameters.ts';
import type { Sql } from '../../postgres/records.ts';
import { groupColumns, groupOf, type StoredGroupRow } from '../group-rows.ts';
import { Columns, type RecentRow } from './columns.ts';
import { type Counts, countRecent, findRecent, type SmallFilter } from './filter.ts';
import { type Known, type RecentGroups, recentColumns } from './recent-groups.ts';

/** A page whose groups were chosen in memory and read by #N; null when SQL is to answer. */
export async function listRecent(
  sql: Sql,
  query: GroupListQuery,
  pace: Pace,
  recent: RecentGroups,
): Promise<GroupPage | null> {
  if (!isWorthIt(query)) return null;
  if (mayBeResolved(query.filter) && !recent.reachesBack(query.filter.from)) return null;
  const known = await recent.current();
  if (known === null || (mayBeResolved(query.filter) && !hasResolved(known, query.filter))) return null;
  const filter = await inSmallLetters(sql, query.filter);
  const found = await findInTime(known.columns, { ...query, filter }, pace);
  if (found === null) return null;
  const page = found.slice(0, query.limit).map(([number]) => number);
  const last = found.length > query.limit ? found[query.limit - 1] : undefined;
  const next = last === undefined ? null : ([last[1], last[0]] as const);
  if (page.length === 0) return { items: [], next };
  // Index: alert_groups_number.
  const rows = await sql<(StoredGroupRow & RecentRow)[]>`
    select ${groupColumns(sql)}, ${recentColumns(sql)} from alert_groups g
    where g.number = any(${numberArray(page)}::bigint[])`;
  // One that has changed in this moment is judged by what its row says.
  const read = new Columns();
  for (const row of rows) read.put(row);
  const still = await findInTime(read, { ...query, filter }, pace);
  if (still === null) return null;
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  return { items: still.flatMap(([number]) => byNumber.get(number) ?? []).map(groupOf), next };
}

/** Null when expressions take too long on all values at once: SQL looks at as many groups as a page has time for. */
async function findInTime(
  ...given: Parameters<typeof findRecent>
): Promise<Awaited<ReturnType<typeof findRecent>> | null> {
  try {
    return await findRecent(...given);
  } catch (error) {
    if (error instanceof BusyError) return null;
    throw error;
  }
}

/** Counts of open groups, and of all where those that ended within the range are in memory; null when SQL is to count. */
export async function countInMemory(
  sql: Sql,
  given: GroupFilter,
  pace: Pace,
  recent: RecentGroups,
): Promise<{ readonly counts: Counts; readonly isAll: boolean } | null> {
  const known = await recent.current();
  if (known === null) return null;
  const filter = await inSmallLetters(sql, given);
  const counts = await countRecent(known.columns, filter, pace);
  const isAll = hasResolved(known, given);
  return { counts: isAll ? counts : { ...counts, resolved: 0 }, isAll };
}

/** Lists in the order of an index come from it as quickly, unless it begins with all that ended before the range. */
function isWorthIt({ filter, descending }: GroupListQuery): boolean {
  if (filter.number !== null) return false;
  if (!descending && filter.from !== null && mayBeResolved(filter)) return true;
  return (
    filter.matchers.length + filter.integrationIds.length + filter.severities.length > 0 ||
    [
      filter.text,
      filter.urgent,
      filter.unclaimed,
      filter.deliveryProblem,
      filter.snoozedNoEnd,
      filter.reopened,
      filter.resolvedBy,
      filter.resolveReason,
    ].some((one) => one !== null)
  );
}

function mayBeResolved({ statuses }: GroupFilter): boolean {
  return statuses.length === 0 || statuses.includes('resolved');
}

function hasResolved({ resolvedSince }: Known, { from }: GroupFilter): boolean {
  return from !== null && from >= resolvedSince;
}

/** What the server does to find a text in any case; of plain small letters everybody knows it. */
async function inSmallLetters(sql: Sql, filter: GroupFilter): Promise<SmallFilter> {
  const { text } = filter;
  if (text === null || /^[ -@[-~]*$/.test(text)) return { ...filter, smallText: text };
  const [row] = await sql<{ small: string }[]>`select lower(${text}::text) as small`;
  return { ...filter, smallText: row?.small ?? text };
}
