/** What statistics need of many Alert Groups, packed by the database: a row each would cost ten times as much. */

import type { Pace } from '../../runtime/pace.ts';
import type { Sql, Transaction } from '../records.ts';
import type { Fragment } from './filters.ts';

/** One entry a group in each. Durations in µs; NaN where there is none. */
export interface StartedGroups {
  readonly startedAt: Float64Array;
  readonly acknowledgedAfter: Float64Array;
  readonly resolvedAfter: Float64Array;
}

/** Three instants of 16 digits a group. */
const DIGITS = 48;
/** `\x`, which begins a bytea in text. */
const PREFIX = 2;
/** Instead of an instant that is not: the smallest bigint, exactly. */
const ABSENT = -(2 ** 63);
/** How many groups are unpacked between two looks at the clock. */
const STRIDE = 8192;

/** An aggregate over rows of `alert_groups g`; parallel workers share it from PostgreSQL 16 on. */
export function packedGroups(sql: Sql | Transaction): Fragment {
  const absent = sql`'-9223372036854775808'::bigint`;
  return sql`
    string_agg(
      int8send(g.started_at) || int8send(coalesce(g.first_acknowledged_at, ${absent}))
        || int8send(coalesce(g.resolved_at, ${absent})),
      ''::bytea
    )`;
}

/** @param packed the bytes in which the server writes {@link packedGroups} */
export async function unpackedGroups(packed: Uint8Array, pace: Pace): Promise<StartedGroups> {
  const count = (packed.length - PREFIX) / DIGITS;
  const groups: StartedGroups = {
    startedAt: new Float64Array(count),
    acknowledgedAfter: new Float64Array(count),
    resolvedAfter: new Float64Array(count),
  };
  for (let from = 0; from < count; from += STRIDE) {
    unpack(packed, groups, from, Math.min(from + STRIDE, count));
    if (pace.isDue()) await pace.rest();
  }
  return groups;
}

function unpack(packed: Uint8Array, groups: StartedGroups, from: number, to: number): void {
  for (let index = from; index < to; index++) {
    const at = PREFIX + index * DIGITS;
    const startedAt = bigintAt(packed, at);
    const acknowledgedAt = bigintAt(packed, at + 16);
    const resolvedAt = bigintAt(packed, at + 32);
    groups.startedAt[index] = startedAt;
    groups.acknowledgedAfter[index] = acknowledgedAt === ABSENT ? Number.NaN : acknowledgedAt - startedAt;
    groups.resolvedAfter[index] = resolvedAt === ABSENT ? Number.NaN : resolvedAt - startedAt;
  }
}

function bigintAt(packed: Uint8Array, at: number): number {
  return wordAt(packed, at) * 2 ** 32 + (wordAt(packed, at + 8) >>> 0);
}

/** Eight hexadecimal digits in lower case, as a signed number. */
function wordAt(packed: Uint8Array, at: number): number {
  let word = 0;
  for (let index = at; index < at + 8; index++) {
    const digit = packed[index] as number;
    // 0 to 9 are 0x30 to 0x39, a to f are 0x61 to 0x66.
    word = (word << 4) | ((digit & 15) + (digit >> 6) * 9);
  }
  return word;
}
