/** Exact percentiles without sorting: only what stands at the ranks that are asked for is brought there (quickselect). */
import type { Pace } from '../../runtime/pace.ts';

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
