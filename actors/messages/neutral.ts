/** Untrusted text made harmless and short enough before any format sees it (messages §2, §5, §6; templates §7). */
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

/** How much of each part is kept: lines, links, Mentions, or code points of a value. */
export type Amounts = Readonly<Record<string, number>>;

/** Code points of a value that is not cut: none has more bytes. */
export const UNCUT = 4_096;

/** What is given up, first to last, and how little may be left of it. */
export type GivingUp<Kept extends Amounts> = readonly (readonly [part: keyof Kept, least: number])[];

/** The most of `full` that fits; the least of everything when nothing does. */
export function shorten<Kept extends Amounts>(
  full: Kept,
  order: GivingUp<Kept>,
  fits: (kept: Kept) => boolean,
): Kept {
  if (fits(full)) return full;
  let kept = full;
  for (const [part, least] of order) {
    const before = kept;
    const now = before[part] ?? 0;
    const lowest = { ...before, [part]: Math.min(least, now) };
    if (fits(lowest)) {
      const most = mostThatFits(Math.min(least, now), now, (amount) => fits({ ...before, [part]: amount }));
      return { ...before, [part]: most };
    }
    kept = lowest;
  }
  return kept;
}

/** The greatest amount from `low`, which fits, up to below `high`, which does not. */
export function mostThatFits(low: number, high: number, fits: (amount: number) => boolean): number {
  let [fitting, failing] = [low, high];
  while (failing - fitting > 1) {
    const middle = Math.floor((fitting + failing) / 2);
    if (fits(middle)) fitting = middle;
    else failing = middle;
  }
  return fitting;
}
