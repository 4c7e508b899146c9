/** What Matchers say of the labels in memory: each pair of name and value is judged once, not each group. */
import type { Matcher } from '../../../actors/directory.ts';
import { compileMatchers } from '../../../actors/route/matcher.ts';
import { requiredText } from '../../../actors/route/regex-required.ts';
import { BusyError } from '../../../runtime/actor/index.ts';
import type { Micros } from '../../../runtime/clock.ts';
import type { Pace } from '../../../runtime/pace.ts';
import type { Columns } from './columns.ts';
import type { LabelPairs } from './labels.ts';

/** Characters of values between two looks at the clock, and what each value counts besides. */
const STRIDE = 8_192;
const OF_EACH_VALUE = 128;

const PASSES = 1;
const FAILS = 2;

/** Whether the group at a place has labels as asked for. */
export type PlaceTest = (place: number) => boolean;

/** Verdicts on the values of one label. They grow with the values. */
export interface Judged {
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
 * Judges the values that there are, giving way to other work now and then.
 * @param mostWork how long values are judged
 * @throws {BusyError} regular expressions take longer
 */
export async function judgeLabels(
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
export function labelTests(
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
