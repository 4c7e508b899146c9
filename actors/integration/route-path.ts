/** Characters of the longest route path that is learned from: longer ones are no sender's own. */
export const LONGEST_ROUTE_PATH = 4_096;

/**
 * The sender's route within a groupKey: what stands before the last `:` outside braces and double quotes; without one,
 * the whole groupKey (ingestion §6.3). Null for one that is too long to be kept.
 */
export function routePathOf(groupKey: string): string | null {
  const path = pathIn(groupKey);
  return path.length > LONGEST_ROUTE_PATH ? null : path;
}

function pathIn(groupKey: string): string {
  let end = groupKey.length;
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < groupKey.length; index++) {
    const character = groupKey[index];
    if (isQuoted) {
      if (character === '\\') index += 1;
      else if (character === '"') isQuoted = false;
    } else if (character === '"') isQuoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}') depth = Math.max(0, depth - 1);
    else if (character === ':' && depth === 0) end = index;
  }
  return groupKey.slice(0, end);
}
