/**
 * The clock of an Integration that only proof of its path makes go (ingestion §6.6): time between two Heartbeat signals
 * counts when they are no further apart than the timeout, time before the first signal and any longer gap does not.
 * Kept as the gaps alone, so that it can be told for every earlier instant, and nothing is written for a Snapshot.
 */
import type { Micros } from '../../runtime/clock.ts';

/** Time that does not count. */
export interface Gap {
  readonly from: Micros;
  readonly to: Micros;
}

/** As many outages are told apart. Older ones become one, which makes live time shorter and Stale later, never earlier. */
export const MOST_GAPS = 64;

/** Adds a gap that is later than all others. */
export function withGap(gaps: readonly Gap[], gap: Gap): readonly Gap[] {
  const all = [...gaps, gap];
  const [first, second, ...rest] = all;
  if (all.length <= MOST_GAPS || !first || !second) return all;
  return [{ from: first.from, to: second.to }, ...rest];
}

/** Live time that passed since an earlier instant, µs. Neither lies before the oldest gap. */
export function liveTimeBetween(gaps: readonly Gap[], from: Micros, to: Micros): Micros {
  let live = Math.max(0, to - from);
  for (const gap of gaps) live -= Math.max(0, Math.min(gap.to, to) - Math.max(gap.from, from));
  return live;
}

/**
 * The instant before which more than `span` of live time has passed until `end`; null when there is none, because not
 * so much passed since the first signal.
 */
export function instantBefore(gaps: readonly Gap[], end: Micros, span: Micros): Micros | null {
  let until = end;
  let left = span;
  for (const gap of gaps.toReversed()) {
    if (gap.from >= until) continue;
    const stretch = Math.max(0, until - gap.to);
    if (left < stretch) break;
    left -= stretch;
    until = gap.from;
  }
  const oldest = gaps[0]?.from ?? Number.NEGATIVE_INFINITY;
  return until <= oldest ? null : until - left;
}
