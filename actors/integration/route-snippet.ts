/** What to change in a sender whose route repeats itself too seldom (ingestion §10). */
import { separatorsIn } from './separators.ts';

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

function split(text: string, separator: string): string[] {
  const places = separatorsIn(text, separator);
  return [0, ...places.map((place) => place + 1)].map((begin, part) => text.slice(begin, places[part]));
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
