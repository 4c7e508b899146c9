/** How often a sender repeats itself, learned by route path (ingestion §6.5). */
import { HOUR, type Micros } from '../../runtime/clock.ts';

/** processing.repeat_samples. */
export const MOST_SAMPLES = 9;
/** Route paths of one Integration that are learned; the one that repeated itself longest ago makes room. */
export const MOST_ROUTES = 1_000;
/** Of the learned interval, the live time without a listing after which an Alert is stale (ingestion §1). */
const INTERVALS_UNTIL_STALE = 3;
/** The same while nothing is learned. */
export const UNLEARNED_STALE_AFTER: Micros = 25 * HOUR;
/** processing.long_repeat_warning. */
export const LONG_REPEAT: Micros = HOUR;

/** Replaced, never mutated. */
export interface LearnedRoute {
  readonly path: string;
  /** The last gaps between two windows, oldest first, µs. Never empty. */
  readonly samples: readonly Micros[];
  /** Their median, µs. */
  readonly interval: Micros;
  /** When the newest sample was taken. */
  readonly heardAt: Micros;
}

export function withSample(
  route: LearnedRoute | undefined,
  sample: { readonly path: string; readonly gap: Micros; readonly at: Micros },
): LearnedRoute {
  const samples = [...(route?.samples ?? []), sample.gap].slice(-MOST_SAMPLES);
  return { path: sample.path, samples, interval: medianOf(samples), heardAt: sample.at };
}

export function staleAfter(interval: Micros | null): Micros {
  return interval === null ? UNLEARNED_STALE_AFTER : INTERVALS_UNTIL_STALE * interval;
}

/** The mean of the middle two for an even count. */
export function medianOf(samples: readonly Micros[]): Micros {
  const sorted = samples.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : Math.round(((sorted[middle - 1] ?? upper) + upper) / 2);
}
