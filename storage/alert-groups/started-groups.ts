/** What statistics need of many Alert Groups, packed by the database: a row each would cost ten times as much. */

import type { Pace } from '../../runtime/pace.ts';
import type { Sql, Transaction } from '../records.ts';
import type { Fragment } from './filters.ts';

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
