/**
 * Where a character stands in a groupKey, or a part of one, outside braces and double quotes; a backslash inside quotes
 * hides what follows it.
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
