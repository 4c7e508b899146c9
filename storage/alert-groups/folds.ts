/** Alert Groups of a list, counted by the value of one label, or by the names of their labels (alert-groups §10.2). */
import type { FoldQuery, Folds } from '../../actors/alert-group/reading/readers.ts';
import { SEVERITY_LEVELS, type SeverityLevel } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { Pace } from '../../runtime/pace.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot } from '../postgres/transaction.ts';
import { findMatching } from './expressions.ts';
import { canLookUp, type Fragment, isExpression, isOneOf, rareNumbers } from './filters.ts';
import { pageOfRows, preferOrder } from './list.ts';
import type { TextIndexes } from './text-sample.ts';

/** Alert Groups that are looked at, the newest first. */
const MOST_GROUPS = 10_000;
const MOST_FOLDS = 200;
/** Characters of a value; a longer one counts as not shared. */
const LONGEST = 1_000;
/** Characters of a name; a longer one cannot be asked for, and is left out. */
const LONGEST_NAME = 200;

interface FoldRow {
  readonly value: string | null;
  readonly groups: number;
  readonly firing: number;
  readonly severity: number;
  readonly started_at: Micros;
  readonly distinct: readonly number[];
  readonly all_folds: number;
  readonly all_groups: number;
}

/** The folds with the most groups; of a list with a regular expression, of as many groups as one page looks at. */
export function foldGroups(
  sql: Sql,
  { filter, by, distinct }: FoldQuery,
  pace: Pace,
  indexes: TextIndexes,
): Promise<Folds> {
  const list = {
    filter,
    ...({ sort: 'started_at', descending: true } as const),
    after: null,
    limit: MOST_GROUPS,
  };
  const expressions = filter.matchers.filter(isExpression);
  return inPlannedSnapshot(sql, async (tx) => {
    const rare = (await canLookUp(tx, filter, indexes)) ? await rareNumbers(tx, filter, indexes) : null;
    if (rare === null) await preferOrder(tx, list);
    const rows = pageOfRows(sql, list, rare);
    if (expressions.length === 0) {
      const found = await tx<FoldRow[]>`${foldStatement(sql, rows(null, MOST_GROUPS), by, distinct)}`;
      return foldsOf(found, distinct, found[0]?.all_groups === MOST_GROUPS);
    }
    const { numbers, next } = await findMatching(sql, tx, list, expressions, rows, pace);
    const matching = sql`where ${isOneOf(sql, numbers)}`;
    const found = await tx<FoldRow[]>`${foldStatement(sql, matching, by, distinct)}`;
    return foldsOf(found, distinct, next !== null);
  });
}

/** The value of a label that all Alerts of a group share; null without one, and for one that is too long to show. */
export function sharedValue(sql: Sql | Transaction, label: string): Fragment {
  return sql`
    case when length(common_labels ->> ${label}::text) <= ${LONGEST}
      then nullif(common_labels ->> ${label}::text, '') end`;
}

/** In which folds a group is: that of its value, or those of its names. */
function foldsOfGroup(sql: Sql, by: string | null): Fragment {
  if (by !== null) return sql`select ${sharedValue(sql, by)}`;
  return sql`select key from jsonb_each_text(common_labels) as label
    where label.value <> '' and length(key) <= ${LONGEST_NAME}`;
}

/** @param rows which rows of `alert_groups g` are looked at */
function foldStatement(sql: Sql, rows: Fragment, by: string | null, distinct: readonly string[]): Fragment {
  const counts = distinct.map((label) => sql`count(distinct ${sharedValue(sql, label)})`);
  const counted =
    counts.length === 0 ? sql`'{}'` : sql`array[${counts.reduce((all, one) => sql`${all}, ${one}`)}]`;
  return sql`
    with looked as materialized (
      select g.common_labels, g.status, g.severity_level, g.started_at from alert_groups g ${rows}
    ), folds as (
      select value, count(*) as groups, count(*) filter (where status = 'firing') as firing,
        min(array_position(${[...SEVERITY_LEVELS]}::text[], severity_level)) as severity,
        max(started_at) as started_at, ${counted}::bigint[] as distinct
      from looked left join lateral (${foldsOfGroup(sql, by)}) as fold (value) on true group by value
    )
    select *, count(*) over () as all_folds, (select count(*) from looked) as all_groups
    from folds order by groups desc, value limit ${MOST_FOLDS}`;
}

function foldsOf(rows: readonly FoldRow[], distinct: readonly string[], truncated: boolean): Folds {
  return {
    items: rows.map((row) => ({
      value: row.value,
      groupCount: row.groups,
      firingCount: row.firing,
      severityLevel: SEVERITY_LEVELS[row.severity - 1] as SeverityLevel,
      lastStartedAt: row.started_at,
      distinct: distinct.map((label, index) => ({ label, count: Number(row.distinct[index] ?? 0) })),
    })),
    foldCount: rows[0]?.all_folds ?? 0,
    groupCount: rows[0]?.all_groups ?? 0,
    truncated,
  };
}
