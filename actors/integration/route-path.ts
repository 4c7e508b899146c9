import { separatorsIn } from './separators.ts';

/** Characters of the longest route path that is learned from: longer ones are no sender's own. */
export const LONGEST_ROUTE_PATH = 4_096;

/**
 * The sender's route within a groupKey: what stands before the last `:` outside braces and double quotes; without one,
 * the whole groupKey (ingestion §6.3). Null for one that is too long to be kept.
 */
export function routePathOf(groupKey: string): string | null {
  const path = groupKey.slice(0, separatorsIn(groupKey, ':').at(-1));
  return path.length > LONGEST_ROUTE_PATH ? null : path;
}
