/** Untrusted text made harmless before any format sees it (messages §2, §5; templates §7 rule 3). */
import { capped, withoutControls } from '../templates/index.ts';

const ELLIPSIS = '…';
/** Marks that turn the direction of whatever follows them, of other people's text too. */
const TURNING = /[\u202A-\u202E\u2066-\u2069]/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;

/** A value in one line: white space is one space, what cannot be seen is gone, at most 4,096 bytes. */
export function oneLine(value: string): string {
  return capped(seen(value.replace(/\s+/g, ' '))).trim();
}

/** A value that keeps its line feeds and tabs, at most 4,096 bytes. */
export function severalLines(value: string): string {
  return capped(seen(value));
}

/** Puts a zero-width space behind every `@`, so that no messenger takes what follows for a name. */
export function mentionless(text: string): string {
  return text.replace(/@(?!\u200B)/g, '@\u200B');
}

/** At most `most` code points, the last of them "…" when something was cut. */
export function cutPoints(text: string, most: number): string {
  if (text.length <= most) return text;
  const points: string[] = [];
  for (const point of text) {
    if (points.length === most) return `${points.slice(0, -1).join('')}${ELLIPSIS}`;
    points.push(point);
  }
  return text;
}

/** At most `most` UTF-16 units, never half a character, the last of them "…" when something was cut. */
export function cutUnits(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = text.slice(0, most - 1);
  const last = head.charCodeAt(head.length - 1);
  return `${last >= 0xd800 && last <= 0xdbff ? head.slice(0, -1) : head}${ELLIPSIS}`;
}

function seen(value: string): string {
  return withoutControls(value).replace(TURNING, '').replace(LONE_SURROGATE, '\uFFFD');
}
