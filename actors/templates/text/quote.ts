/** Quoting as Go's strconv does it. */

const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

/** @param ascii whether everything beyond ASCII is escaped, too */
export function goQuoted(text: string, ascii = false): string {
  return `"${escapedFor(text, '"', ascii)}"`;
}

export function goQuotedRune(character: string, ascii = false): string {
  return `'${escapedFor(character, "'", ascii)}'`;
}

/** Whether a text can stand between backquotes. */
export function fitsBackquotes(text: string): boolean {
  return !/[`\uFEFF]|(?!\t)\p{Cc}/u.test(text);
}

const ESCAPED = /["'\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu;
const ESCAPED_FOR_ASCII = /["'\\]|[^ -~]/gu;

function escapedFor(text: string, quote: string, ascii: boolean): string {
  return text.replace(ascii ? ESCAPED_FOR_ASCII : ESCAPED, (character) =>
    escapedCharacter(character, quote, ascii),
  );
}

function escapedCharacter(character: string, quote: string, ascii: boolean): string {
  if (character === quote) return `\\${quote}`;
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  if (isPrintable(character) && (code < 0x80 || !ascii)) return character;
  if (code < 0x80) return `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
