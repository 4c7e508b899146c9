/**
 * Regular expressions in filters of lists and counts. They run on the engine that Routes use, so the two never disagree,
 * hence not in the database: rows are read in the order of the list, with the labels that expressions are about.
 */
import type { GroupListQuery } from '../../actors/alert-group/reading/readers.ts';
import type { Matcher } from '../../actors/directory.ts';
import type { GroupStatus } from '../../actors/model.ts';
import { compileMatchers, type LabelTest } from '../../actors/route/matcher.ts';
import { requiredText, SEEN_CHARACTERS } from '../../actors/route/regex.ts';
import { BusyError } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { Pace } from '../../runtime/pace.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { allOf, type Fragment } from './filters.ts';

/**
 * Rows looked at for one page: few where most match, then as many again as there were so far, and so on while the page has
 * taken little time, so that its last chunk about doubles that.
 */
const FIRST = 1_000;
const LEAST = 2_000;
const MOST = 20_000;
const LITTLE_TIME: Micros = SECOND / 200;
/** Rows in memory at a time. */
const READ_AT_ONCE = 1_000;
/** How long a page is worked on before it ends short, and counts before they are given up. */
const MOST_WORK_OF_PAGE: Micros = SECOND / 2;
const MOST_WORK_OF_COUNTS: Micros = 5 * SECOND;
/** Characters of values whose verdict is remembered. */
const REMEMBERED = 1_000;

type Place = GroupListQuery['after'];

/** Conditions, order and limit of the rows of `alert_groups g` behind a place. */
export type RowsAfter = (after: Place, limit: number) => Fragment;

export interface Matching {
  /** #N of those that match, in order. */
  readonly numbers: readonly number[];
  /** Behind which the next page goes on; null at the end. */
  readonly next: readonly [number, number] | null;
}

interface HeldRow {
  readonly number: number;
  readonly key: number;
  readonly held: readonly string[];
  /** The how many-th row of its chunk. */
  readonly place: number;
}

/** A page of those that match, short when it took as many rows, or as much time, as one page is worth. */
export async function findMatching(
  sql: Sql,
  tx: Transaction,
  { sort, descending, limit, after }: GroupListQuery,
  expressions: readonly Matcher[],
  rowsAfter: RowsAfter,
  pace: Pace,
): Promise<Matching> {
  const matches = testOf(expressions, pace);
  const key = sort === 'started_at' ? sql`g.started_at` : sql`g.last_changed_at`;
  const order = descending ? sql`order by key desc, number desc` : sql`order by key, number`;
  const numbers: number[] = [];
  let place = after;
  // A page that memory gave up has worked before.
  const { worked: workedBefore, elapsed: elapsedBefore } = pace;
  const hasTime = () => pace.elapsed - elapsedBefore < LITTLE_TIME;
  const isOver = () => pace.worked - workedBefore > MOST_WORK_OF_PAGE;
  for (let before = 0; before < LEAST || (before < MOST && hasTime()); ) {
    const chunk = Math.min(Math.max(FIRST, before), MOST - before);
    let looked = 0;
    // The last row of a full chunk comes in any case: behind it the next one begins.
    const statement = tx<HeldRow[]>`
      select number, key, ${heldValues(sql, expressions)} as held, place
      from (
        select *, row_number() over (${order}) as place
        from (select g.number, ${key} as key, g.common_labels from alert_groups g ${rowsAfter(place, chunk)}) as looked
      ) as g
      where ${mayMatch(sql, expressions)} or place = ${chunk}
      ${order}`;
    for await (const rows of statement.cursor(READ_AT_ONCE)) {
      pace.resume();
      for (const row of rows) {
        if (numbers.length === limit || isOver()) return { numbers, next: place };
        place = [row.key, row.number];
        if (await matches(row.held)) numbers.push(row.number);
        if (pace.isDue()) await pace.rest();
      }
      pace.pause();
      looked = rows.at(-1)?.place ?? looked;
    }
    if (looked < chunk) return { numbers, next: null };
    before += chunk;
  }
  return { numbers, next: place };
}

/** Adds up the counts of a statement whose rows hold values besides. @throws {BusyError} it takes too long */
export async function countMatching(
  tx: Transaction,
  expressions: readonly Matcher[],
  statement: Fragment,
  counts: Record<GroupStatus, number>,
  pace: Pace,
): Promise<void> {
  const matches = testOf(expressions, pace);
  type Counted = { readonly status: GroupStatus; readonly count: number; readonly held: readonly string[] };
  for await (const rows of tx<Counted[]>`${statement}`.cursor(READ_AT_ONCE)) {
    pace.resume();
    for (const { status, count, held } of rows) {
      if (await matches(held)) counts[status] += count;
      if (pace.isDue()) await pace.rest();
      if (pace.worked > MOST_WORK_OF_COUNTS) throw new BusyError('a regular expression takes too long');
    }
    pace.pause();
  }
}

/**
 * The values of the labels that expressions are about, in their order, as much of them as expressions look at; a label
 * that is not shared is empty.
 */
export function heldValues(sql: Sql, expressions: readonly Matcher[]): Fragment {
  const values = expressions.map(
    ({ label }) => sql`left(coalesce(g.common_labels ->> ${label}::text, ''), ${SEEN_CHARACTERS})`,
  );
  return sql`array[${values.reduce((joined, value) => sql`${joined}, ${value}`)}]`;
}

/** What no expression matches without: it spares most rows the way to the engine. For `g.common_labels`. */
export function mayMatch(sql: Sql, expressions: readonly Matcher[]): Fragment {
  const required = expressions
    .filter(({ op }) => op === '=~')
    .map(({ label, value }) => ({ label, text: requiredText(value) }))
    .filter(({ text }) => text !== '');
  return allOf(
    sql,
    required.map(({ label, text }) => sql`strpos(g.common_labels ->> ${label}::text, ${text}) > 0`),
  );
}

/** Whether values of {@link heldValues} match, each set of them judged once. */
function testOf(
  expressions: readonly Matcher[],
  pace: Pace,
): (held: readonly string[]) => boolean | Promise<boolean> {
  const tests = expressions.map((one): [string, LabelTest] => [one.label, compileMatchers([one])]);
  const judged = new Map<string, boolean>();

  const judge = async (held: readonly string[], key: string): Promise<boolean> => {
    for (const [index, [label, test]] of tests.entries()) {
      const verdict = test({ [label]: held[index] ?? '' });
      if (!verdict || index === tests.length - 1) {
        if (key.length <= REMEMBERED) judged.set(key, verdict);
        return verdict;
      }
      if (pace.isDue()) await pace.rest();
    }
    return true;
  };

  return (held) => {
    const key = held.join('\0');
    return judged.get(key) ?? judge(held, key);
  };
}
