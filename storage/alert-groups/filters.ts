/** The filters of Alert Group lists as SQL (alert-groups §10). */
import type postgres from 'postgres';
import type { GroupFilter } from '../../actors/alert-group/reading/readers.ts';
import type { Matcher } from '../../actors/directory.ts';
import { numberArray } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { together } from '../postgres/transaction.ts';
import type { Half, TextIndexes, TextParts } from './text-sample.ts';

export type Fragment = postgres.PendingQuery<postgres.Row[]>;

/**
 * Every condition of a filter but status, range and expressions, joined with `and`; for the table `alert_groups g`.
 * What expressions match is found out by reading rows (expressions.ts).
 */
export function filterConditions(sql: Sql, filter: GroupFilter): Fragment {
  return allOf(sql, [rowConditions(sql, filter), lookupConditions(sql, filter)]);
}

/** Those that no look-up answers. */
export function rowConditions(sql: Sql, filter: GroupFilter): Fragment {
  const matchers = filter.matchers.filter((matcher) => !isExpression(matcher) && !isLabel(matcher));
  return allOf(sql, [
    ...plainConditions(sql, filter),
    ...matchers.map((matcher) => matcherCondition(sql, matcher)),
  ]);
}

/**
 * Those that a look-up of {@link rareNumbers} answers.
 * @param parts of the text, which an index of text is asked for; all of it when left out
 */
export function lookupConditions(
  sql: Sql | Transaction,
  { matchers, text }: GroupFilter,
  parts?: readonly string[],
): Fragment {
  const conditions = matchers.filter(isLabel).map((matcher) => matcherCondition(sql, matcher));
  if (text !== null) conditions.push(textCondition(sql, text, parts));
  return allOf(sql, conditions);
}

/** Whether {@link rareNumbers} has indexes for what a filter asks for. */
export async function canLookUp(
  tx: Transaction,
  { matchers, text }: GroupFilter,
  indexes: TextIndexes,
): Promise<boolean> {
  if (matchers.some(isLabel)) return true;
  // Of a shorter text the index knows nothing.
  if (text === null || !/[\p{L}\p{N}]{3}/u.test(text)) return false;
  return indexes.areThere(tx);
}

/** Up to so many groups are looked up; where there are more, some are soon met in any order. */
const RARE = 2_000;

/**
 * #N of all groups with the labels and the text and of the half, open or resolved, that a filter asks for, whatever else
 * it asks for; null when there are many. The server guesses badly how rare a label or a text is, and reads everything in
 * order to find a page of few. Indexes: alert_groups_open_labels, alert_groups_resolved_labels, alert_groups_open_text,
 * alert_groups_resolved_text.
 */
export async function rareNumbers(
  tx: Transaction,
  filter: GroupFilter,
  indexes: TextIndexes,
): Promise<number[] | null> {
  const parts = filter.text === null ? null : await indexes.partsOf(tx, filter.text);
  // Both kinds of index answer nothing but bitmap scans.
  const [, rows] = await together(
    tx`select
      set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'off', true),
      set_config('enable_bitmapscan', 'on', true)`,
    tx<{ number: number }[]>`${lookup(tx, filter, parts)} limit ${RARE + 1}`,
    tx`select set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'on', true)`,
  );
  return rows.length > RARE ? null : rows.map(({ number }) => number);
}

/** Each half with the condition of its index, and the parts of the text that its index is asked for. */
export function lookup(tx: Sql | Transaction, filter: GroupFilter, parts: TextParts | null = null): Fragment {
  const lookups = halvesOf(filter.statuses).map((half) => {
    const condition = half === 'open' ? tx`g.status <> 'resolved'` : tx`g.status = 'resolved'`;
    return tx`
      select g.number from alert_groups g
      where ${condition} and ${lookupConditions(tx, filter, parts?.[half] ?? undefined)}`;
  });
  return lookups.reduce((joined, one) => tx`${joined} union all ${one}`);
}

function halvesOf(statuses: GroupFilter['statuses']): readonly Half[] {
  if (statuses.length === 0) return ['open', 'resolved'];
  if (!statuses.includes('resolved')) return ['open'];
  return statuses.length === 1 ? ['resolved'] : ['open', 'resolved'];
}

/** One of those groups. */
export function isOneOf(sql: Sql, numbers: readonly number[]): Fragment {
  return sql`g.number = any(${numberArray(numbers)}::bigint[])`;
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
  const { urgency, owner, number } = filter;
  when(filter.routeIds.length > 0, () => routeCondition(sql, filter.routeIds));
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
  return conditions;
}

/** An index knows the order within one Route, not within a list of one. */
function routeCondition(sql: Sql, [first, ...others]: GroupFilter['routeIds']): Fragment {
  return others.length === 0
    ? sql`g.route_id = ${first ?? ''}`
    : sql`g.route_id = any(${[first ?? '', ...others]}::text[])`;
}

/** First as the indexes of text have it, by parts; the second half is exact, and keeps a match within one of the two texts. */
function textCondition(sql: Sql | Transaction, text: string, parts: readonly string[] = [text]): Fragment {
  const indexed = parts.map(
    (part) => sql`(g.title || ' ' || coalesce(g.summary, '')) ilike ${patternOf(part)}`,
  );
  const pattern = patternOf(text);
  return sql`(${allOf(sql, indexed)} and (g.title ilike ${pattern} or g.summary ilike ${pattern}))`;
}

function patternOf(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/** A label that the Alerts do not share is absent, and absent is the same as empty (routes §1 rule 3). */
function matcherCondition(sql: Sql | Transaction, { label, op, value }: Matcher): Fragment {
  const held = sql`coalesce(g.common_labels ->> ${label}, '')`;
  if (op !== '=') return sql`${held} <> ${value}`;
  if (value === '') return sql`${held} = ''`;
  return sql`g.common_labels @> ${JSON.stringify({ [label]: value })}::text::jsonb`;
}
