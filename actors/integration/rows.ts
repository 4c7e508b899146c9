/** What an Integration owns besides its state: repeats by route path, feeds with cut lists (ingestion §6.5). */
import { HOUR, MINUTE, type Micros } from '../../runtime/clock.ts';

export interface TruncatedFeed {
  /** Key of the feed. */
  readonly feed: string;
  /** Null when it is too long to be learned from. */
  readonly routePath: string | null;
  readonly since: Micros;
}

export interface IntegrationRows {
  /** By route path. */
  readonly routes: Map<string, LearnedRoute>;
  /** By key of the feed. */
  readonly truncated: Map<string, TruncatedFeed>;
}

export function emptyIntegrationRows(): IntegrationRows {
  return { routes: new Map(), truncated: new Map() };
}

/** Since when some list is cut, µs; null when none is. */
export function truncatedSince({ truncated }: IntegrationRows): Micros | null {
  let since: Micros | null = null;
  for (const feed of truncated.values()) since = Math.min(since ?? feed.since, feed.since);
  return since;
}

export function isLong(route: LearnedRoute | undefined): boolean {
  return route !== undefined && route.interval > LONG_REPEAT;
}

/** Characters of the longest route path that is learned from: longer ones are no sender's own. */
export const LONGEST_ROUTE_PATH = 4_096;

/**
 * The sender's route within a groupKey: the part before the last `:` outside braces and double quotes; without one, the
 * whole groupKey (ingestion §6.3). Null when it is too long to be stored.
 */
export function routePathOf(groupKey: string): string | null {
  const path = groupKey.slice(0, separatorsIn(groupKey, ':').at(-1));
  return path.length > LONGEST_ROUTE_PATH ? null : path;
}

/**
 * Positions of a character in a groupKey, or a part of one, outside braces and double quotes; a backslash inside quotes
 * escapes the next character.
 */
export function separatorsIn(text: string, separator: string): number[] {
  const found: number[] = [];
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (isQuoted) {
      if (character === '\\') index += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}') depth = Math.max(0, depth - 1);
    else if (character === separator && depth === 0) found.push(index);
  }
  return found;
}

/** processing.repeat_samples. */
export const MOST_SAMPLES = 9;
/** Route paths of one Integration that are learned; the one that repeated itself longest ago makes room. */
export const MOST_ROUTES = 1_000;
/** Of the learned interval, the live time without a listing after which an Alert is stale (ingestion §1). */
const INTERVALS_UNTIL_STALE = 3;
/** The same while no interval is learned. */
export const UNLEARNED_STALE_AFTER: Micros = 25 * HOUR;
/** processing.long_repeat_warning. */
export const LONG_REPEAT: Micros = HOUR;

/** The least of it: three times 5m, the shortest repeat_interval that is recommended (ingestion §2.4). */
export const LEAST_STALE_AFTER: Micros = 15 * MINUTE;

/** Replaced, never mutated. */
export interface LearnedRoute {
  readonly path: string;
  /** The last samples, oldest first, µs. Never empty. */
  readonly samples: readonly Micros[];
  /** The longest of them, µs. */
  readonly interval: Micros;
  /** When the newest sample was taken. */
  readonly heardAt: Micros;
}

export function withSample(
  route: LearnedRoute | undefined,
  sample: { readonly path: string; readonly gap: Micros; readonly at: Micros },
): LearnedRoute {
  const samples = [...(route?.samples ?? []), sample.gap].slice(-MOST_SAMPLES);
  return { path: sample.path, samples, interval: Math.max(...samples), heardAt: sample.at };
}

export function staleAfter(interval: Micros | null): Micros {
  if (interval === null) return UNLEARNED_STALE_AFTER;
  return Math.max(INTERVALS_UNTIL_STALE * interval, LEAST_STALE_AFTER);
}
