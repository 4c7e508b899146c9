/** The list of Alert Groups and its counts. */
import {
  type GroupFilter,
  type GroupListQuery,
  type GroupPage,
  sortKey,
} from '../../actors/alert-group/reading/readers.ts';
import type { Matcher } from '../../actors/directory.ts';
import type { GroupStatus } from '../../actors/model.ts';
import { HOUR } from '../../runtime/clock.ts';
import type { Pace } from '../../runtime/pace.ts';
import { numberArray } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot, together } from '../postgres/transaction.ts';
import { countMatching, findMatching, heldValues, mayMatch, type RowsAfter } from './expressions.ts';
import {
  allOf,
  canLookUp,
  type Fragment,
  filterConditions,
  isExpression,
  isOneOf,
  lookupConditions,
  rareNumbers,
  rowConditions,
} from './filters.ts';
import { groupColumns, groupOf, type StoredGroupRow } from './group-rows.ts';
import { rowsOfPage } from './pages.ts';
import { countInMemory, listRecent } from './recent/answers.ts';
import type { RecentGroups } from './recent/recent-groups.ts';
import type { TextIndexes } from './text-sample.ts';

/** One page; the next one starts behind its last item, or behind the last row that expressions were tried on. */
export async function listGroups(
  sql: Sql,
  query: GroupListQuery,
  pace: Pace,
  indexes: TextIndexes,
  recent: RecentGroups | null = null,
): Promise<GroupPage> {
  const fromMemory = recent && (await listRecent(sql, query, pace, recent));
  if (fromMemory) return withinBytes(query, fromMemory);
  const expressions = query.filter.matchers.filter(isExpression);
  return inPlannedSnapshot(sql, (tx) =>
    expressions.length > 0
      ? listMatching(sql, tx, query, expressions, pace, indexes)
      : listAll(sql, tx, query, indexes),
  );
}

/**
 * How many rows are read in order before labels and text are looked up: some, and so many more where those held a tenth of
 * the page. Where many have what is asked for that is all, however many they are in all.
 */
const FIRST = [500, 5_000];
const PROMISING = 0.1;

async function listAll(
  sql: Sql,
  tx: Transaction,
  query: GroupListQuery,
  indexes: TextIndexes,
): Promise<GroupPage> {
  const read = async (from: Fragment) =>
    pageOf(query, await tx<StoredGroupRow[]>`select ${groupColumns(sql)} from ${from}`);
  const inOrder = async (from: Fragment) => (await together(preferOrder(tx, query), read(from)))[1];
  const all = (rare: readonly number[] | null) =>
    sql`alert_groups g ${pageOfRows(sql, query, rare)(query.after, query.limit + 1)}`;
  if (!(await canLookUp(tx, query.filter, indexes)))
    // To those with a delivery problem, which are few, the server would add a list of all open ones.
    return query.filter.deliveryProblem === true ? inOrder(all(null)) : read(all(null));
  for (const most of FIRST) {
    const first = await inOrder(amongFirst(sql, query, most));
    if (first.next) return first;
    if (first.items.length < query.limit * PROMISING) break;
  }
  const rare = await rareNumbers(tx, query.filter, indexes);
  return rare === null ? inOrder(all(rare)) : read(all(rare));
}

/**
 * What reads all rows and sorts them is dearer than going through them in order, though the server, which takes each row
 * for a page of its own, guesses otherwise. Not where those that come first are out of range.
 */
export async function preferOrder(tx: Transaction, { filter, descending }: GroupListQuery): Promise<void> {
  if (asksForResolved(filter) && filter.from !== null && !descending) return;
  // Handed to the driver at once: what comes after this call comes after it, whether it was waited for or not.
  await tx`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`.execute();
}

function pageOf(query: GroupListQuery, rows: readonly StoredGroupRow[]): GroupPage {
  return withinBytes(query, { items: rows.map(groupOf), next: null });
}

/** As many of the items as a page holds; the next page starts behind the last of them. */
function withinBytes({ sort, limit }: GroupListQuery, { items: all, next }: GroupPage): GroupPage {
  const items = all.slice(0, rowsOfPage(all, limit));
  const last = items.at(-1);
  if (items.length === all.length || !last) return { items, next };
  return { items, next: sortKey(last, sort) };
}

async function listMatching(
  sql: Sql,
  tx: Transaction,
  query: GroupListQuery,
  expressions: readonly Matcher[],
  pace: Pace,
  indexes: TextIndexes,
): Promise<GroupPage> {
  const rare = (await canLookUp(tx, query.filter, indexes))
    ? await rareNumbers(tx, query.filter, indexes)
    : null;
  if (rare === null) await preferOrder(tx, query);
  const found = await findMatching(sql, tx, query, expressions, pageOfRows(sql, query, rare), pace);
  if (found.numbers.length === 0) return { items: [], next: found.next };
  const rows = await tx<StoredGroupRow[]>`
    select ${groupColumns(sql)} from alert_groups g
    where g.number = any(${numberArray(found.numbers)}::bigint[])
    ${orderBy(sql, query)}`;
  return withinBytes(query, { items: rows.map(groupOf), next: found.next });
}

/**
 * Which rows of `alert_groups g` a page is made of, in order. Indexes: alert_groups_open for open groups by started_at,
 * alert_groups_route for those of one Route, alert_groups_started once resolved ones are asked for, alert_groups_open_changed
 * and alert_groups_changed by last_changed_at, alert_groups_number for a number and for what was looked up.
 * @param rare #N of all groups with the labels and the text that are asked for, where {@link rareNumbers} gave them
 */
export function pageOfRows(
  sql: Sql,
  query: GroupListQuery,
  rare: readonly number[] | null = null,
): RowsAfter {
  const { filter } = query;
  const wanted =
    rare === null
      ? filterConditions(sql, filter)
      : sql`${rowConditions(sql, filter)} and ${isOneOf(sql, rare)}`;
  return (after, limit) => rowsWith(sql, { ...query, after, limit }, wanted);
}

/** The page as far as it is made of the first rows that there are without labels and text. */
export function amongFirst(sql: Sql, query: GroupListQuery, most: number): Fragment {
  const { filter, limit } = query;
  return sql`(
      select * from alert_groups g ${rowsWith(sql, { ...query, limit: most }, rowConditions(sql, filter))}
    ) as g
    where ${lookupConditions(sql, filter)}
    ${orderBy(sql, query)}
    limit ${limit + 1}`;
}

function rowsWith(sql: Sql, query: GroupListQuery, wanted: Fragment): Fragment {
  const { filter, limit } = query;
  return sql`
    where ${statusCondition(sql, filter)} and ${rangeCondition(sql, filter)} and ${wanted}
      and ${afterCondition(sql, query)}
    ${orderBy(sql, query)}
    limit ${limit}`;
}

/** Of a last change the indexes know the hour; within it rows are sorted. */
function orderBy(sql: Sql, { sort, descending }: GroupListQuery): Fragment {
  const order = descending ? sql`desc` : sql`asc`;
  return sort === 'started_at'
    ? sql`order by g.started_at ${order}, g.number ${order}`
    : sql`order by g.changed_hour ${order}, g.last_changed_at ${order}, g.number ${order}`;
}

function afterCondition(sql: Sql, { after, sort, descending }: GroupListQuery): Fragment {
  if (!after) return sql`true`;
  const [value, number] = after;
  const behind = descending ? sql`<` : sql`>`;
  const place = sql`(${value}::bigint, ${number}::bigint)`;
  if (sort === 'started_at') return sql`(g.started_at, g.number) ${behind} ${place}`;
  const hour = Math.floor(value / HOUR);
  return sql`g.changed_hour ${behind}= ${hour}::bigint and (g.last_changed_at, g.number) ${behind} ${place}`;
}

const OPEN_STATUSES = 3;

function asksForResolved({ statuses }: GroupFilter): boolean {
  return statuses.length === 0 || statuses.includes('resolved');
}

/** Written so that the partial index of open groups serves when only open ones are asked for. */
function statusCondition(sql: Sql, { statuses, owner }: GroupFilter): Fragment {
  if (statuses.length === 0) return sql`true`;
  // What has an Owner is acknowledged, which the table holds to and the server does not reckon with.
  if (owner?.id) return sql`${statuses.includes('acknowledged')}::boolean`;
  const wanted = new Set(statuses);
  const listed = sql`g.status = any(${[...wanted]}::text[])`;
  if (wanted.has('resolved')) return listed;
  return wanted.size === OPEN_STATUSES
    ? sql`g.status <> 'resolved'`
    : sql`(g.status <> 'resolved' and ${listed})`;
}

/** Lifetimes that overlap [from, to). Of open ones alone it says no more than it must: the server multiplies guesses. */
function rangeCondition(sql: Sql, filter: GroupFilter): Fragment {
  const { from, to } = filter;
  const conditions: Fragment[] = [];
  if (to !== null) conditions.push(sql`g.started_at < ${to}::bigint`);
  if (from !== null && asksForResolved(filter))
    conditions.push(sql`(g.status <> 'resolved' or g.resolved_at >= ${from}::bigint)`);
  return allOf(sql, conditions);
}

/** How many groups have each status; 0 where none has. */
export async function countGroups(
  sql: Sql,
  filter: GroupFilter,
  pace: Pace,
  recent: RecentGroups | null = null,
): Promise<Readonly<Record<GroupStatus, number>>> {
  const counted = recent && (await countInMemory(sql, filter, pace, recent));
  if (counted?.isAll) return counted.counts;
  const counts = counted?.counts ?? { firing: 0, acknowledged: 0, snoozed: 0, resolved: 0 };
  const expressions = filter.matchers.filter(isExpression);
  await inPlannedSnapshot(sql, async (tx) => {
    const statement = countStatement(sql, filter, expressions, counted ? 'resolved' : 'all');
    if (expressions.length > 0) {
      await countMatching(tx, expressions, statement, counts, pace);
      return;
    }
    const rows = await tx<{ status: GroupStatus; count: number }[]>`${statement}`;
    for (const { status, count } of rows) counts[status] = count;
  });
  return counts;
}

/**
 * How many there are of each status, and of each set of values that expressions are about. Indexes: alert_groups_route
 * and alert_groups_open, which hold what is asked most, alert_groups_open_labels, alert_groups_open_text, and
 * alert_groups_resolved for its half.
 */
export function countStatement(
  sql: Sql,
  filter: GroupFilter,
  expressions: readonly Matcher[] = [],
  which: 'all' | 'resolved' = 'all',
): Fragment {
  const conditions = sql`${filterConditions(sql, filter)} and ${mayMatch(sql, expressions)}`;
  const { from, to } = filter;
  const started = to === null ? sql`true` : sql`g.started_at < ${to}::bigint`;
  const ended = from === null ? sql`true` : sql`g.resolved_at >= ${from}::bigint`;
  const held = expressions.length === 0 ? sql`` : sql`, ${heldValues(sql, expressions)} as held`;
  const apart = expressions.length === 0 ? sql`` : sql`, held`;
  const resolved = sql`
    select 'resolved' as status, count(*) as count ${held} from alert_groups g
    where g.status = 'resolved' and ${ended} and ${started} and ${conditions}
    ${expressions.length === 0 ? sql`` : sql`group by held`}`;
  if (which === 'resolved') return resolved;
  return sql`
    select g.status, count(*) as count ${held} from alert_groups g
    where g.status <> 'resolved' and ${started} and ${conditions}
    group by g.status ${apart}
    union all ${resolved}`;
}
