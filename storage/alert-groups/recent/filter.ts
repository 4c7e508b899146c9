/** Judges a filter on the columns: labels once each, groups one by one. */
import type { GroupFilter, GroupListQuery } from '../../../actors/alert-group/reading/readers.ts';
import type { Matcher } from '../../../actors/directory.ts';
import { GROUP_STATUSES, type GroupStatus } from '../../../actors/model.ts';
import { compileMatchers } from '../../../actors/route/matcher.ts';
import { requiredText } from '../../../actors/route/regex.ts';
import { BusyError } from '../../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Pace } from '../../../runtime/pace.ts';
import { BETWEEN_TEXTS, type Columns, FLAG, type LabelPairs, OPEN_BITS, STATUS_BIT } from './columns.ts';

/** What a filter needs besides: its text in small letters, as the server makes them. */
export interface SmallFilter extends GroupFilter {
  readonly smallText: string | null;
}

/** How long labels are judged for a page, and for counts. */
const MOST_WORK_OF_PAGE: Micros = SECOND / 2;
const MOST_WORK_OF_COUNTS: Micros = 5 * SECOND;

export type Counts = Record<GroupStatus, number>;

/**
 * How many groups of each status match, whatever the statuses that the filter names.
 * @throws {BusyError} regular expressions take too long
 */
export async function countRecent(columns: Columns, filter: SmallFilter, pace: Pace): Promise<Counts> {
  const judged = await judgeNow(columns, filter, pace, MOST_WORK_OF_COUNTS);
  const tests = testsOf(columns, { ...filter, statuses: [] }, judged);
  const counts: Counts = { firing: 0, acknowledged: 0, snoozed: 0, resolved: 0 };
  const byBit = new Uint32Array(OPEN_BITS + STATUS_BIT.resolved + 1);
  const { status } = columns;
  for (let place = 0; place < columns.size; place++)
    if (passes(tests, place)) byBit[status[place]!] = byBit[status[place]!]! + 1;
  for (const name of GROUP_STATUSES) counts[name] = byBit[STATUS_BIT[name]]!;
  return counts;
}

/**
 * #N and sort key of the first groups of a page, in order: one more than its limit where there are more.
 * @throws {BusyError} regular expressions take longer than a page is worked on
 */
export async function findRecent(
  columns: Columns,
  query: Omit<GroupListQuery, 'filter'> & { readonly filter: SmallFilter },
  pace: Pace,
): Promise<readonly (readonly [number: number, key: Micros])[]> {
  const { sort, descending, after, limit } = query;
  const judged = await judgeNow(columns, query.filter, pace, MOST_WORK_OF_PAGE);
  const tests = testsOf(columns, query.filter, judged);
  const keys = sort === 'started_at' ? columns.startedAt : columns.changedAt;
  const { number } = columns;
  const direction = descending ? -1 : 1;
  const order = (left: number, right: number) =>
    direction * (keys[left]! - keys[right]! || number[left]! - number[right]!);
  const isBehind = (place: number) =>
    after === null || direction * (keys[place]! - after[0] || number[place]! - after[1]) > 0;
  const first: number[] = [];
  for (let place = 0; place < columns.size; place++) {
    const last = first.length > limit ? first[limit]! : null;
    if (last !== null && order(place, last) > 0) continue;
    if (!isBehind(place) || !passes(tests, place)) continue;
    insert(first, place, order);
    if (first.length > limit + 1) first.pop();
  }
  return first.map((place) => [number[place]!, keys[place]!]);
}

function passes(tests: readonly PlaceTest[], place: number): boolean {
  for (const test of tests) if (!test(place)) return false;
  return true;
}

function insert(sorted: number[], place: number, order: (left: number, right: number) => number): void {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order(sorted[middle]!, place) < 0) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, place);
}

function judgeNow(columns: Columns, { matchers }: SmallFilter, pace: Pace, mostWork: Micros) {
  // What was waited for until now is no work.
  pace.resume();
  return judgeLabels(columns, matchers, pace, mostWork);
}

/** Cheap ones first. Nothing may be awaited before they are used. */
function testsOf(columns: Columns, filter: SmallFilter, judged: readonly Judged[]): readonly PlaceTest[] {
  return [
    ...plainTests(columns, filter),
    ...labelTests(columns, filter.matchers, judged),
    ...textTests(columns, filter),
  ];
}

function plainTests(columns: Columns, filter: SmallFilter): PlaceTest[] {
  const { words, status, flags, startedAt, resolvedAt, severity, route } = columns;
  const tests: PlaceTest[] = [];
  const when = (given: boolean, test: () => PlaceTest) => {
    if (given) tests.push(test());
  };
  const isWord = (column: Int32Array, word: string): PlaceTest => {
    const code = words.find(word);
    return (place) => column[place] === code;
  };
  const isOneOf = (column: Int32Array, wanted: readonly string[]): PlaceTest => {
    const [only, ...others] = wanted;
    if (others.length === 0) return isWord(column, only ?? '');
    const codes = new Set(wanted.map((word) => words.find(word)));
    return (place) => codes.has(column[place]);
  };
  const hasFlag = (flag: number, wanted: boolean): PlaceTest => {
    const bits = wanted ? flag : 0;
    return (place) => (flags[place]! & flag) === bits;
  };
  const { statuses, from, to, owner, urgency, number } = filter;
  when(statuses.length > 0, () => {
    const bits = statuses.reduce((joined, name) => joined | STATUS_BIT[name], 0);
    return (place) => (status[place]! & bits) !== 0;
  });
  when(to !== null, () => (place) => startedAt[place]! < to!);
  when(from !== null, () => (place) => status[place] !== STATUS_BIT.resolved || resolvedAt[place]! >= from!);
  when(number !== null, () => (place) => columns.number[place] === number);
  when(filter.routeIds.length > 0, () => isOneOf(route, filter.routeIds));
  when(filter.severities.length > 0, () => isOneOf(severity, filter.severities));
  when(filter.integrationIds.length > 0, () => {
    const wanted = new Set(filter.integrationIds.map((id) => words.find(id)));
    const sets = columns.sets.map((set) => set.some((id) => wanted.has(id)));
    return (place) => sets[columns.integrations[place]!]!;
  });
  when(filter.urgent !== null, () => {
    const routes = new Set(urgency.routeIds.map((id) => words.find(id)));
    const critical = urgency.critical ? words.find('critical') : undefined;
    return (place) => (routes.has(route[place]) || severity[place] === critical) === filter.urgent;
  });
  when(filter.resolvedBy !== null, () => isWord(columns.resolvedBy, filter.resolvedBy ?? ''));
  when(filter.resolveReason !== null, () => isWord(columns.reason, filter.resolveReason ?? ''));
  when(filter.reopened !== null, () => hasFlag(FLAG.reopened, filter.reopened === true));
  when(owner !== null, () => isWord(columns.owner, owner?.id ?? ''));
  when(filter.snoozedNoEnd !== null, () => hasFlag(FLAG.snoozedNoEnd, filter.snoozedNoEnd === true));
  when(filter.unclaimed !== null, () => hasFlag(FLAG.unclaimed, filter.unclaimed === true));
  when(filter.deliveryProblem !== null, () => hasFlag(FLAG.deliveryProblem, filter.deliveryProblem === true));
  return tests;
}

function textTests({ text }: Columns, { smallText }: SmallFilter): PlaceTest[] {
  if (smallText === null) return [];
  return smallText.includes(BETWEEN_TEXTS) ? [() => false] : [(place) => text[place]!.includes(smallText)];
}

/** Characters of values between two looks at the clock, and what each value counts besides. */
const STRIDE = 8_192;
const OF_EACH_VALUE = 128;

const PASSES = 1;
const FAILS = 2;

/** Whether the group at a place has labels as asked for. */
type PlaceTest = (place: number) => boolean;

/** Verdicts on the values of one label. They grow with the values. */
interface Judged {
  readonly test: (value: string) => boolean;
  readonly label: string;
  /** By number of the pair: one of the above, or 0 for another label. */
  verdicts: Uint8Array;
  /** How many values of the label are judged. */
  done: number;
  /** What holds for a group without the label: it is the same as an empty one (routes §1 rule 3). */
  readonly ofNone: boolean;
}

/**
 * Judges all values, yielding to other work at intervals.
 * @param mostWork limit of the time spent
 * @throws {BusyError} the limit is exceeded
 */
async function judgeLabels(
  { pairs }: Columns,
  matchers: readonly Matcher[],
  pace: Pace,
  mostWork: Micros,
): Promise<readonly Judged[]> {
  const judged = matchers.filter((matcher) => !isPair(matcher)).map(judgement);
  for (const one of judged) {
    while (judge(one, pairs, STRIDE)) {
      if (!pace.isDue()) continue;
      await pace.rest();
      if (pace.worked > mostWork) throw new BusyError('a regular expression takes too long');
    }
  }
  return judged;
}

/** Judges what has come since, at once: nothing may be awaited between this and the use of the tests. */
function labelTests(
  columns: Columns,
  matchers: readonly Matcher[],
  judged: readonly Judged[],
): readonly PlaceTest[] {
  for (const one of judged) judge(one, columns.pairs, Number.POSITIVE_INFINITY);
  return [
    ...matchers.filter(isPair).map(({ label, value }) => hasPair(columns, label, value)),
    ...judged.map((one) => testOf(one, columns)),
  ];
}

function isPair({ op, value }: Matcher): boolean {
  return op === '=' && value !== '';
}

function hasPair({ labels, pairs }: Columns, label: string, value: string): PlaceTest {
  const wanted = pairs.find(label, value);
  return wanted === undefined ? () => false : (place) => labels[place]!.includes(wanted);
}

function judgement(matcher: Matcher): Judged {
  const { label, op, value } = matcher;
  const matches = compileMatchers([matcher]);
  const required = op === '=~' ? requiredText(value) : '';
  const test = (held: string) => held.includes(required) && matches({ [label]: held });
  return { test, label, verdicts: new Uint8Array(0), done: 0, ofNone: test('') };
}

/** Judges so many characters more; false when that was all. */
function judge(one: Judged, pairs: LabelPairs, characters: number): boolean {
  const { values, numbers } = pairs.of(one.label);
  if (one.verdicts.length < pairs.count) {
    const wider = new Uint8Array(pairs.count);
    wider.set(one.verdicts);
    one.verdicts = wider;
  }
  for (let left = characters; left > 0 && one.done < values.length; one.done++) {
    const value = values[one.done]!;
    one.verdicts[numbers[one.done]!] = one.test(value) ? PASSES : FAILS;
    left -= OF_EACH_VALUE + value.length;
  }
  return one.done < values.length;
}

function testOf({ verdicts, ofNone }: Judged, { labels }: Columns): PlaceTest {
  return (place) => {
    for (const pair of labels[place]!) {
      const verdict = verdicts[pair];
      if (verdict) return verdict === PASSES;
    }
    return ofNone;
  };
}
