/** The filters of Alert Group lists as SQL (Alert Group chapter §10). */
import type postgres from 'postgres';
import type { GroupFilter } from '../../actors/alert-group/reading.ts';
import type { Matcher } from '../../actors/directory.ts';
import { numberArray } from '../array-literals.ts';
import type { Sql, Transaction } from '../records.ts';

export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/**
 * Every condition of a filter but status, range and expressions, joined with `and`; for the table `alert_groups g`.
 * What expressions match is found out by reading rows (expressions.ts).
 * @param rare #N of all groups with the labels that are asked for, where {@link rareNumbers} gave them
 */
export function filterConditions(
  sql: Sql,
  filter: GroupFilter,
  rare: readonly number[] | null = null,
): Fragment {
  const matchers = filter.matchers.filter(
    (matcher) => !isExpression(matcher) && !(rare !== null && isLabel(matcher)),
  );
  const conditions = [
    ...plainConditions(sql, filter),
    ...matchers.map((matcher) => matcherCondition(sql, matcher)),
  ];
  if (rare !== null) conditions.push(sql`g.number = any(${numberArray(rare)}::bigint[])`);
  return allOf(sql, conditions);
}

/** Up to so many groups are looked up by their labels; where there are more, some are soon met in any order. */
const RARE = 1_000;
/** Of a label that more groups than this have, an index gives some at random. */
const SAMPLE = 5 * RARE;

/**
 * #N of all groups with the labels and of the half, open or resolved, that a filter asks for, whatever else it asks for;
 * null when there are many, or when it asks for no label. The server guesses badly how rare a label is, and reads
 * everything in order to find a page of few. Indexes: alert_groups_open_labels, alert_groups_resolved_labels.
 */
export async function rareNumbers(
  tx: Transaction,
  { matchers, statuses }: Pick<GroupFilter, 'matchers' | 'statuses'>,
): Promise<number[] | null> {
  const labels = matchers.filter(isLabel);
  if (labels.length === 0) return null;
  const numbers = () => tx<{ number: number }[]>`${withLabels(tx, labels, statuses)} limit ${RARE + 1}`;
  // That there are many shows in a sample, at a fraction of the cost. Few of a sample may be many: they are counted again.
  const [, sample] = await Promise.all([
    tx`select set_config('enable_seqscan', 'off', true), set_config('gin_fuzzy_search_limit', ${SAMPLE}::text, true)`,
    numbers(),
    tx`select set_config('gin_fuzzy_search_limit', '0', true)`,
  ]);
  if (sample.length > RARE) return null;
  const rows = await numbers();
  return rows.length > RARE ? null : rows.map(({ number }) => number);
}

/** Each half with the condition of its index. */
function withLabels(
  tx: Transaction,
  labels: readonly Matcher[],
  statuses: GroupFilter['statuses'],
): Fragment {
  const held = labels.map(
    ({ label, value }) => tx`common_labels @> ${JSON.stringify({ [label]: value })}::text::jsonb`,
  );
  const half = (condition: Fragment) =>
    tx`select number from alert_groups where ${condition} and ${allOf(tx, held)}`;
  const resolved = half(tx`status = 'resolved'`);
  const open = half(tx`status <> 'resolved'`);
  if (statuses.length === 0) return tx`${open} union all ${resolved}`;
  if (!statuses.includes('resolved')) return open;
  return statuses.length === 1 ? resolved : tx`${open} union all ${resolved}`;
}

function isLabel({ op, value }: Matcher): boolean {
  return op === '=' && value !== '';
}

export function isExpression({ op }: Matcher): boolean {
  return op === '=~' || op === '!~';
}

export function allOf(sql: Sql | Transaction, conditions: readonly Fragment[]): Fragment {
  return conditions.reduce((joined, condition) => sql`${joined} and ${condition}`, sql`true`);
}

function plainConditions(sql: Sql, filter: GroupFilter): Fragment[] {
  const conditions: Fragment[] = [];
  const when = (given: boolean, condition: () => Fragment) => {
    if (given) conditions.push(condition());
  };
  const { urgency, owner, number, text } = filter;
  when(filter.routeIds.length > 0, () => sql`g.route_id = any(${[...filter.routeIds]}::text[])`);
  when(
    filter.integrationIds.length > 0,
    () => sql`g.integration_ids && ${[...filter.integrationIds]}::text[]`,
  );
  when(filter.severities.length > 0, () => sql`g.severity_level = any(${[...filter.severities]}::text[])`);
  when(
    filter.urgent !== null,
    () => sql`(
      g.route_id = any(${[...urgency.routeIds]}::text[])
      or (${urgency.critical} and g.severity_level = 'critical')
    ) = ${filter.urgent}`,
  );
  when(filter.resolvedBy !== null, () => sql`g.resolved_by = ${filter.resolvedBy}`);
  when(filter.resolveReason !== null, () => sql`g.resolve_reason = ${filter.resolveReason}`);
  when(filter.reopened !== null, () => sql`(g.reopen_count > 0) = ${filter.reopened}`);
  when(owner !== null, () => (owner?.id ? sql`g.owner_id = ${owner.id}` : sql`g.owner_id is null`));
  when(filter.snoozedNoEnd === true, () => sql`g.status = 'snoozed' and g.snooze_until is null`);
  when(filter.snoozedNoEnd === false, () => sql`(g.status <> 'snoozed' or g.snooze_until is not null)`);
  when(filter.unclaimed !== null, () => sql`g.unclaimed = ${filter.unclaimed}`);
  when(filter.deliveryProblem === true, () => sql`g.delivery_problem`);
  when(filter.deliveryProblem === false, () => sql`not g.delivery_problem`);
  when(number !== null, () => sql`g.number = ${number}`);
  when(text !== null, () => textCondition(sql, text ?? ''));
  return conditions;
}

/** Indexed by alert_groups_text where pg_trgm is there; the second half keeps a match within one of the two texts. */
function textCondition(sql: Sql, text: string): Fragment {
  const pattern = `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql`(
    (g.title || ' ' || coalesce(g.summary, '')) ilike ${pattern}
    and (g.title ilike ${pattern} or g.summary ilike ${pattern})
  )`;
}

/** A label that the Alerts do not share is absent, and absent is the same as empty (routes §1 rule 3). */
function matcherCondition(sql: Sql, { label, op, value }: Matcher): Fragment {
  const held = sql`coalesce(g.common_labels ->> ${label}, '')`;
  if (op !== '=') return sql`${held} <> ${value}`;
  if (value === '') return sql`${held} = ''`;
  return sql`g.common_labels @> ${JSON.stringify({ [label]: value })}::text::jsonb`;
}
