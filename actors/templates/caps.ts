/** What becomes of values that others wrote before they are printed (templates §7.3). */

const MOST_BYTES = 4_096;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
const UNWANTED = /[\0-\x08\x0b-\x1f\x7f-\x9f\uE000-\uE002]/g;

/** At most 4,096 bytes of a value, ending with `…` when something was cut. */
export function capped(value: string): string {
  if (value.length * 3 <= MOST_BYTES || Buffer.byteLength(value) <= MOST_BYTES) return value;
  const bytes = Buffer.from(value);
  let end = MOST_BYTES - Buffer.byteLength('…');
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}…`;
}

/** Without control characters other than line feed and tab, and without what marks Mentions inside an output. */
export function withoutControls(value: string): string {
  return value.replace(UNWANTED, '');
}
