/** What an Integration owns besides its state: learned repeats, and feeds whose lists are cut. */
import type { Micros } from '../../runtime/clock.ts';
import { type LearnedRoute, LONG_REPEAT } from './learned.ts';

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
