/** Texts: how their length counts, in which order they stand, which of them may become links. */
/** Length of a text in Unicode code points, as every limit of the API counts. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The order in which people expect names with numbers: `p2` before `p10`. */
const RUNS = /\d+|\D+/g;

/** Runs of digits compare as numbers, everything else by code units. */
export function naturalOrder(left: string, right: string): number {
  const [a, b] = [left.match(RUNS) ?? [], right.match(RUNS) ?? []];
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const difference = compareRuns(a[index] ?? '', b[index] ?? '');
    if (difference !== 0) return difference;
  }
  return a.length - b.length || compareTexts(left, right);
}

/** Of any length, so that digits are never turned into a number. */
function compareRuns(left: string, right: string): number {
  if (!isNumber(left) || !isNumber(right)) return compareTexts(left, right);
  const [a, b] = [left.replace(/^0+/, ''), right.replace(/^0+/, '')];
  return a.length - b.length || compareTexts(a, b);
}

function isNumber(run: string): boolean {
  return /^\d/.test(run);
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Which texts may become links anywhere (messages §9.1). */

const URL_LIMIT = 2_048;
const UNFIT = /[\s\p{Cc}\p{Cf}\uE000-\uE002]/u;

/**
 * A text that somebody else wrote as a link: an absolute http or https URL with a host and without user information,
 * white space or invisible characters, at most 2,048 characters. Null for anything else.
 */
export function safeUrl(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.length > URL_LIMIT || UNFIT.test(trimmed) || !/^https?:\/\//i.test(trimmed)) return null;
  const url = URL.parse(trimmed);
  return url?.host && url.username === '' && url.password === '' ? trimmed : null;
}

/** Order of texts by their UTF-8 bytes, which is that of their code points. */
export function compareBytes(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [left.charCodeAt(index), right.charCodeAt(index)];
    if (a !== b) return rank(a) - rank(b);
  }
  return left.length - right.length;
}

/** UTF-16 writes what lies beyond U+FFFF with units below U+E000; here those come last. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The offset behind the first `count` code points. */
export function offsetOf(text: string, count: number): number {
  let offset = 0;
  for (let passed = 0; passed < count && offset < text.length; passed++) {
    offset += (text.codePointAt(offset) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}

/** The offset before the last `count` code points. */
export function offsetFromEnd(text: string, count: number): number {
  let offset = text.length;
  for (let passed = 0; passed < count && offset > 0; passed++) {
    offset -= offset > 1 && (text.codePointAt(offset - 2) ?? 0) > 0xffff ? 2 : 1;
  }
  return offset;
}
