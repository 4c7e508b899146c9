/** The list of Alert Groups and its counts. */
import type { GroupFilter, GroupListQuery, GroupPage } from '../../actors/alert-group/reading.ts';
import type { Matcher } from '../../actors/directory.ts';
import type { GroupStatus } from '../../actors/model.ts';
import type { Pace } from '../../runtime/pace.ts';
import { numberArray } from '../array-literals.ts';
import type { Sql, Transaction } from '../records.ts';
import { inPlannedSnapshot } from '../transaction.ts';
import { countMatching, findMatching, heldValues, type RowsAfter } from './expressions.ts';
import { allOf, type Fragment, filterConditions, isExpression, rareNumbers } from './filters.ts';
import { groupColumns, groupOf, type StoredGroupRow } from './group-rows.ts';

/** One page; the next one starts behind its last item, or behind the last row that expressions were tried on. */
export function listGroups(sql: Sql, query: GroupListQuery, pace: Pace): Promise<GroupPage> {
  const expressions = query.filter.matchers.filter(isExpression);
  return inPlannedSnapshot(sql, async (tx) => {
    const rows = pageOfRows(sql, query, await rareNumbers(tx, query.filter));
    return expressions.length > 0
      ? listMatching(sql, tx, query, expressions, rows, pace)
      : listAll(sql, tx, query, rows);
  });
}

async function listAll(
  sql: Sql,
  tx: Transaction,
  { sort, limit, after }: GroupListQuery,
  rowsAfter: RowsAfter,
): Promise<GroupPage> {
  const rows = await tx<StoredGroupRow[]>`
    select ${groupColumns(sql)} from alert_groups g ${rowsAfter(after, limit + 1)}`;
  const items = rows.slice(0, limit).map(groupOf);
  const last = items.at(-1);
  if (rows.length <= limit || !last) return { items, next: null };
  return { items, next: [sort === 'started_at' ? last.startedAt : last.lastChangedAt, last.number] };
}

async function listMatching(
  sql: Sql,
  tx: Transaction,
  query: GroupListQuery,
  expressions: readonly Matcher[],
  rowsAfter: RowsAfter,
  pace: Pace,
): Promise<GroupPage> {
  const found = await findMatching(sql, tx, query, expressions, rowsAfter, pace);
  if (found.numbers.length === 0) return { items: [], next: found.next };
  const rows = await tx<StoredGroupRow[]>`
    select ${groupColumns(sql)} from alert_groups g
    where g.number = any(${numberArray(found.numbers)}::bigint[])
    ${orderBy(sql, query)}`;
  return { items: rows.map(groupOf), next: found.next };
}

/**
 * Which rows of `alert_groups g` a page is made of, in order. Indexes: alert_groups_open for open groups by started_at,
 * alert_groups_started once resolved ones are asked for, alert_groups_number for a number and for rare labels,
 * alert_groups_text for text. Sorted by last_changed_at, what was found is sorted.
 */
export function pageOfRows(
  sql: Sql,
  query: GroupListQuery,
  rare: readonly number[] | null = null,
): RowsAfter {
  const { filter, descending } = query;
  return (after, limit) => sql`
    where ${statusCondition(sql, filter)} and ${rangeCondition(sql, filter)}
      and ${filterConditions(sql, filter, rare)} and ${afterCondition(sql, { after, descending }, sortColumn(sql, query))}
    ${orderBy(sql, query)}
    limit ${limit}`;
}

function sortColumn(sql: Sql, { sort }: Pick<GroupListQuery, 'sort'>): Fragment {
  return sort === 'started_at' ? sql`g.started_at` : sql`g.last_changed_at`;
}

function orderBy(sql: Sql, query: Pick<GroupListQuery, 'sort' | 'descending'>): Fragment {
  const order = query.descending ? sql`desc` : sql`asc`;
  return sql`order by ${sortColumn(sql, query)} ${order}, g.number ${order}`;
}

function afterCondition(
  sql: Sql,
  { after, descending }: Pick<GroupListQuery, 'after' | 'descending'>,
  column: Fragment,
): Fragment {
  if (!after) return sql`true`;
  const [value, number] = after;
  return descending
    ? sql`(${column}, g.number) < (${value}::bigint, ${number}::bigint)`
    : sql`(${column}, g.number) > (${value}::bigint, ${number}::bigint)`;
}

const OPEN_STATUSES = 3;

/** Written so that the partial index of open groups serves when only open ones are asked for. */
function statusCondition(sql: Sql, { statuses }: GroupFilter): Fragment {
  if (statuses.length === 0) return sql`true`;
  const wanted = new Set(statuses);
  const listed = sql`g.status = any(${[...wanted]}::text[])`;
  if (wanted.has('resolved')) return listed;
  return wanted.size === OPEN_STATUSES
    ? sql`g.status <> 'resolved'`
    : sql`(g.status <> 'resolved' and ${listed})`;
}

/** Lifetimes that overlap [from, to). */
function rangeCondition(sql: Sql, { from, to }: GroupFilter): Fragment {
  const conditions: Fragment[] = [];
  if (to !== null) conditions.push(sql`g.started_at < ${to}::bigint`);
  if (from !== null) conditions.push(sql`(g.status <> 'resolved' or g.resolved_at >= ${from}::bigint)`);
  return allOf(sql, conditions);
}

/** How many groups have each status; 0 where none has. */
export async function countGroups(
  sql: Sql,
  filter: GroupFilter,
  pace: Pace,
): Promise<Readonly<Record<GroupStatus, number>>> {
  const counts = { firing: 0, acknowledged: 0, snoozed: 0, resolved: 0 };
  const expressions = filter.matchers.filter(isExpression);
  await inPlannedSnapshot(sql, async (tx) => {
    if (expressions.length > 0) {
      await countMatching(tx, expressions, countStatement(sql, filter, expressions), counts, pace);
      return;
    }
    const rows = await tx<{ status: GroupStatus; count: number }[]>`${countStatement(sql, filter)}`;
    for (const { status, count } of rows) counts[status] = count;
  });
  return counts;
}

/**
 * How many there are of each status, and of each set of values that expressions are about. Indexes: alert_groups_route
 * and alert_groups_open, which hold what is asked most, alert_groups_open_labels, and alert_groups_resolved for its half.
 */
export function countStatement(
  sql: Sql,
  filter: GroupFilter,
  expressions: readonly Matcher[] = [],
): Fragment {
  const conditions = filterConditions(sql, filter);
  const { from, to } = filter;
  const started = to === null ? sql`true` : sql`g.started_at < ${to}::bigint`;
  const ended = from === null ? sql`true` : sql`g.resolved_at >= ${from}::bigint`;
  const held = expressions.length === 0 ? sql`` : sql`, ${heldValues(sql, expressions)} as held`;
  const apart = expressions.length === 0 ? sql`` : sql`, held`;
  return sql`
    select g.status, count(*) as count ${held} from alert_groups g
    where g.status <> 'resolved' and ${started} and ${conditions}
    group by g.status ${apart}
    union all
    select 'resolved', count(*) ${held} from alert_groups g
    where g.status = 'resolved' and ${ended} and ${started} and ${conditions}
    ${expressions.length === 0 ? sql`` : sql`group by held`}`;
}
