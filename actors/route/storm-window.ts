/** New Alert Groups of the last 60 s (alert-groups §9): c(t) counts those in (t − 60 s, t]. */
import { MINUTE, type Micros } from '../../runtime/clock.ts';

const WINDOW: Micros = MINUTE;

/** Instants of `created`, µs, oldest first. No more are kept than decide whether the threshold is exceeded. */
export type Starts = readonly Micros[];

export interface Counted {
  readonly starts: Starts;
  /** The first instant at which c is at or below the threshold again; null when it is not above it now. */
  readonly exceedsUntil: Micros | null;
}

/**
 * Counts one more `created`. Of `threshold + 1` instants within a window the oldest expires first, and then the count
 * falls to the threshold. The count never rises between two `created`, so nothing is evaluated in between. An instant
 * before the newest one counts as the newest.
 *
 * With a threshold that was raised while the count was above the old one, counting starts from the `old + 1` newest
 * instants.
 */
export function counted(starts: Starts, at: Micros, threshold: number): Counted {
  const now = Math.max(at, starts.at(-1) ?? at);
  const first = firstAfter(starts, now - WINDOW);
  const kept = starts.slice(Math.max(first, starts.length - threshold));
  kept.push(now);
  const [oldest = now] = kept;
  return { starts: kept, exceedsUntil: kept.length > threshold ? oldest + WINDOW : null };
}

function firstAfter(starts: Starts, end: Micros): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] as Micros) > end) high = middle;
    else low = middle + 1;
  }
  return low;
}

const RADIX = 36;

/** As text, each instant as the distance from the one before: a threshold may be 100,000. */
export function packStarts(starts: Starts): string {
  return starts.map((at, index) => (at - (starts[index - 1] ?? 0)).toString(RADIX)).join(' ');
}

/** Reverses {@link packStarts}. */
export function unpackStarts(packed: string): Starts {
  if (packed === '') return [];
  let at = 0;
  return packed.split(' ').map((distance) => {
    at += Number.parseInt(distance, RADIX);
    return at;
  });
}
