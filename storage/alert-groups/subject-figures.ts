/** Figures of the groups that started in a period, by subject, with exact percentiles. */
import type { Durations, Figures, SubjectFigures } from '../../actors/alert-group/reading/readers.ts';
import type { LocalDay, OffsetSpan } from '../../actors/wall-clock.ts';
import { DAY, HOUR, type Micros } from '../../runtime/clock.ts';
import type { Pace } from '../../runtime/pace.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import type { Fragment } from './filters.ts';

const FRACTIONS = [0.5, 0.9, 0.95, 0.99] as const;

export class SubjectCollector {
  readonly #days: (Figures & { readonly date: string })[] = [];
  readonly #acknowledgedAfter: Float64Array[] = [];
  readonly #resolvedAfter: Float64Array[] = [];
  #groupCount = 0;

  /** Adds every group of the subject that started on some days; days come in order, each once. */
  async add(days: readonly LocalDay[], parts: readonly StartedGroups[], pace: Pace): Promise<void> {
    const dayIndexes = parts.map(({ startedAt }) => dayIndexesOf(startedAt, days));
    const spread = (until: (part: StartedGroups) => Float64Array) =>
      spreadOverDays(
        parts.map((part) => durations(part.startedAt, until(part))),
        dayIndexes,
        days.length,
      );
    const acknowledged = spread(({ acknowledgedAt }) => acknowledgedAt);
    const resolved = spread(({ resolvedAt }) => resolvedAt);
    const groupCounts = countsOf(dayIndexes, days.length);
    for (const [index, { date }] of days.entries()) {
      const groupCount = groupCounts[index] as number;
      if (groupCount === 0) continue;
      if (pace.isDue()) await pace.rest();
      this.#days.push({
        date,
        groupCount,
        timeToAcknowledge: await durationsOf(acknowledged.ofDay(index), pace),
        timeToResolve: await durationsOf(resolved.ofDay(index), pace),
      });
    }
    for (const groupCount of groupCounts) this.#groupCount += groupCount;
    this.#acknowledgedAfter.push(acknowledged.all);
    this.#resolvedAfter.push(resolved.all);
  }

  async figures(subjectId: PublicId, pace: Pace): Promise<SubjectFigures> {
    return {
      subjectId,
      groupCount: this.#groupCount,
      timeToAcknowledge: await durationsOf(joined(this.#acknowledgedAfter), pace),
      timeToResolve: await durationsOf(joined(this.#resolvedAfter), pace),
      days: this.#days,
    };
  }
}

const HOURS_OF_WEEK = 168;
/** From Monday 0:00 to 1 January 1970, a Thursday, hours. */
const FIRST_HOUR = 72;

/** Counts groups by the hour of the week in which they started, as clocks on the wall of a zone show it. */
export class WeekCollector {
  readonly hours: number[] = Array.from({ length: HOURS_OF_WEEK }, () => 0);
  readonly #spans: readonly OffsetSpan[];

  /** @param spans in order, the first one begins at or before every group */
  constructor(spans: readonly OffsetSpan[]) {
    this.#spans = spans;
  }

  async add(instants: Float64Array, pace: Pace): Promise<void> {
    let span = 0;
    for (let index = 0; index < instants.length; index++) {
      const instant = instants[index] as Micros;
      while (span > 0 && instant < this.#at(span).start) span--;
      while (span < this.#spans.length - 1 && instant >= this.#at(span + 1).start) span++;
      const hour = (Math.floor((instant + this.#at(span).offset) / HOUR) + FIRST_HOUR) % HOURS_OF_WEEK;
      this.hours[hour] = (this.hours[hour] as number) + 1;
      if (index % LONG === 0 && pace.isDue()) await pace.rest();
    }
  }

  #at(span: number): OffsetSpan {
    return this.#spans[span] as OffsetSpan;
  }
}

/** NaN where there is no end. */
function durations(from: Float64Array, to: Float64Array): Float64Array {
  const lengths = new Float64Array(from.length);
  for (let index = 0; index < lengths.length; index++)
    lengths[index] = (to[index] as number) - (from[index] as number);
  return lengths;
}

/** Where in `days` each instant lies. */
function dayIndexesOf(instants: Float64Array, days: readonly LocalDay[]): Int32Array {
  const starts = Float64Array.from(days, ({ start }) => start);
  const first = starts[0] as number;
  const last = starts.length - 1;
  const found = new Int32Array(instants.length);
  for (let index = 0; index < instants.length; index++) {
    const instant = instants[index] as number;
    // Nearly all days have 24 hours, so that the right one is at most a step or two from here.
    let day = Math.max(0, Math.min(last, Math.floor((instant - first) / DAY)));
    while (day > 0 && instant < (starts[day] as number)) day--;
    while (day < last && instant >= (starts[day + 1] as number)) day++;
    found[index] = day;
  }
  return found;
}

function countsOf(dayIndexes: readonly Int32Array[], dayCount: number): Uint32Array {
  const counts = new Uint32Array(dayCount);
  for (const indexes of dayIndexes) {
    for (let index = 0; index < indexes.length; index++) {
      const day = indexes[index] as number;
      counts[day] = (counts[day] as number) + 1;
    }
  }
  return counts;
}

interface Spread {
  /** Ordered by day. */
  readonly all: Float64Array;
  /** A part of `all`. */
  ofDay(index: number): Float64Array;
}

/** Orders values by day, those left out that are NaN. */
function spreadOverDays(
  parts: readonly Float64Array[],
  dayIndexes: readonly Int32Array[],
  dayCount: number,
): Spread {
  const ends = new Uint32Array(dayCount + 1);
  const eachValue = (take: (value: number, day: number) => void) => {
    for (const [part, values] of parts.entries()) {
      const indexes = dayIndexes[part] as Int32Array;
      for (let index = 0; index < values.length; index++) {
        const value = values[index] as number;
        if (!Number.isNaN(value)) take(value, indexes[index] as number);
      }
    }
  };
  eachValue((_value, day) => {
    ends[day + 1] = (ends[day + 1] as number) + 1;
  });
  for (let day = 0; day < dayCount; day++) ends[day + 1] = (ends[day + 1] as number) + (ends[day] as number);
  const all = new Float64Array(ends[dayCount] as number);
  // The end of the day before is where a day begins.
  const next = ends.slice(0, dayCount);
  eachValue((value, day) => {
    const at = next[day] as number;
    all[at] = value;
    next[day] = at + 1;
  });
  return { all, ofDay: (index) => all.subarray(ends[index], ends[index + 1]) };
}

async function durationsOf(values: Float64Array, pace: Pace): Promise<Durations> {
  const [median = null, p90 = null, p95 = null, p99 = null] =
    (await percentilesOf(values, FRACTIONS, pace)) ?? [];
  return { count: values.length, median, p90, p95, p99 };
}

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((length, part) => length + part.length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}

/** How many values are gone through before the clock is looked at. */
const LONG = 10_000;

/**
 * Percentiles by linear interpolation between the two nearest ranks, as `percentile_cont` computes them. Null of nothing.
 * @param values are put into another order
 * @param fractions from 0 to 1, ascending
 */
export async function percentilesOf(
  values: Float64Array,
  fractions: readonly number[],
  pace: Pace,
): Promise<number[] | null> {
  if (values.length === 0) return null;
  const found: number[] = [];
  let settled = 0;
  for (const fraction of fractions) {
    const position = fraction * (values.length - 1);
    const rank = Math.floor(position);
    // Behind a rank that was brought into place stands nothing smaller.
    let range: Range = { low: settled, high: values.length - 1 };
    while (range.low < range.high) {
      const isLong = range.high - range.low > LONG;
      range = narrowed(values, range, rank);
      if (isLong && pace.isDue()) await pace.rest();
    }
    const value = values[rank] as number;
    found.push(position === rank ? value : value + (position - rank) * (smallest(values, rank + 1) - value));
    settled = rank;
  }
  return found;
}

/** Both ends included. */
interface Range {
  readonly low: number;
  readonly high: number;
}

/** Parts the range around one of its values (Hoare): the part that holds the rank; nothing outside of it belongs inside. */
function narrowed(values: Float64Array, { low, high }: Range, rank: number): Range {
  const pivot = middleOf(values[low] as number, values[(low + high) >> 1] as number, values[high] as number);
  let left = low;
  let right = high;
  while (left <= right) {
    while ((values[left] as number) < pivot) left++;
    while ((values[right] as number) > pivot) right--;
    if (left > right) break;
    const value = values[left] as number;
    values[left++] = values[right] as number;
    values[right--] = value;
  }
  if (rank <= right) return { low, high: right };
  if (rank >= left) return { low: left, high };
  return { low: rank, high: rank };
}

function middleOf(one: number, two: number, three: number): number {
  return Math.max(Math.min(one, two), Math.min(Math.max(one, two), three));
}

function smallest(values: Float64Array, from: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let index = from; index < values.length; index++) {
    const value = values[index] as number;
    if (value < least) least = value;
  }
  return least;
}

/** One entry a group in each. Instants in µs; NaN where there is none. */
export interface StartedGroups {
  readonly startedAt: Float64Array;
  readonly acknowledgedAt: Float64Array;
  readonly resolvedAt: Float64Array;
}

/** Of a number, and of `\x`, which begins a bytea in text. */
const DIGITS = 16;
const PREFIX = 2;
/** How many numbers are unpacked between two looks at the clock: few enough for texts that cost nothing to forget. */
const STRIDE = 2048;

/** Three columns, aggregates over rows of `alert_groups g` in the same order; they are computed from one pass. */
export function packedGroups(sql: Sql | Transaction): Fragment {
  const packed = (instant: Fragment) =>
    sql`string_agg(float8send(coalesce(${instant}::float8, 'NaN')), ''::bytea)`;
  return sql`
    ${packed(sql`g.started_at`)}, ${packed(sql`g.first_acknowledged_at`)}, ${packed(sql`g.resolved_at`)}`;
}

/** @param packed the three columns of {@link packedGroups}, as the server writes them */
export async function unpackedGroups(
  [startedAt, acknowledgedAt, resolvedAt]: readonly [Buffer, Buffer, Buffer],
  pace: Pace,
): Promise<StartedGroups> {
  return {
    startedAt: await unpacked(startedAt, pace),
    acknowledgedAt: await unpacked(acknowledgedAt, pace),
    resolvedAt: await unpacked(resolvedAt, pace),
  };
}

/** The digits are those of numbers with their highest byte first. */
async function unpacked(digits: Buffer, pace: Pace): Promise<Float64Array> {
  const numbers = new Float64Array((digits.length - PREFIX) / DIGITS);
  for (let from = 0; from < numbers.length; from += STRIDE) {
    const to = Math.min(from + STRIDE, numbers.length);
    const bytes = Buffer.from(numbers.buffer, from * 8, (to - from) * 8);
    bytes.write(digits.toString('latin1', PREFIX + from * DIGITS, PREFIX + to * DIGITS), 'hex');
    bytes.swap64();
    if (pace.isDue()) await pace.rest();
  }
  return numbers;
}
