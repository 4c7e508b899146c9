/** What to change in a sender whose route repeats itself too seldom (ingestion §10). */

const REPEAT = 'repeat_interval: 10m';

/**
 * The routes that lead to a route path, nested as in Alertmanager's configuration, with a repeat interval on the last. A
 * path that is not one of Alertmanager's gives the interval for the route at the top.
 */
export function routeSnippet(routePath: string): string {
  const routes = matchersIn(routePath);
  const lines = ['# Alertmanager: set it on the route that you have for this.', 'route:'];
  let indent = '  ';
  for (const matchers of routes) {
    lines.push(`${indent}routes:`, `${indent}  - matchers: [${matchers.map(asciiQuoted).join(', ')}]`);
    indent += '    ';
  }
  lines.push(`${indent}${REPEAT}`);
  return `${lines.join('\n')}\n`;
}

/** The matchers of each route below the top one. */
function matchersIn(routePath: string): readonly (readonly string[])[] {
  const segments = split(routePath, '/');
  if (!segments.every((segment) => segment.startsWith('{') && segment.endsWith('}'))) return [];
  return segments
    .slice(1)
    .map((segment) =>
      split(segment.slice(1, -1), ',').flatMap((matcher) => (matcher.trim() === '' ? [] : [matcher.trim()])),
    );
}

/** Splits at a character that stands outside braces and quotes. */
function split(text: string, separator: string): string[] {
  const parts: string[] = [];
  let begin = 0;
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
    else if (character === separator && depth === 0) {
      parts.push(text.slice(begin, index));
      begin = index + 1;
    }
  }
  return [...parts, text.slice(begin)];
}

const LAST_OF_FOUR_DIGITS = 0xffff;

/** A YAML double-quoted scalar of ASCII alone: what a sender wrote can neither end it nor hide in it. */
function asciiQuoted(text: string): string {
  return JSON.stringify(text).replace(/[^\x20-\x7e]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > LAST_OF_FOUR_DIGITS
      ? `\\U${code.toString(16).padStart(8, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}
