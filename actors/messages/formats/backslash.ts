/** What the two formats that escape with a backslash have in common (messages §5). */
import { mentionless, oneLine, severalLines } from '../neutral.ts';

/** Escapes one line for a format whose special characters are `special`. */
export function escapedLine(value: string, special: RegExp): string {
  return mentionless(oneLine(value).replace(special, '\\$&'));
}

/** Escapes a value that keeps its line feeds: no further line can begin a code block or underline a heading. */
export function escapedLines(value: string, special: RegExp): string {
  const [first = '', ...further] = severalLines(value).split('\n');
  const lines = further.map((line) => line.trimStart().replace(special, '\\$&').replace(/^=/, '\\='));
  return mentionless([first.replace(special, '\\$&'), ...lines].join('\n'));
}

/** A URL as the target of a link between parentheses. What looks like an entity there would be decoded. */
export function linkTarget(url: string): string {
  return url
    .replace(/[()<>\\ "@]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/&(?=#?\w+;)/g, '&amp;');
}

export function emphasised(mark: string, content: string): string {
  return content === '' ? '' : mark + content + mark;
}
