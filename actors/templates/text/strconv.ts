/** Floats as decimal digits, exact or the fewest that read back the same, written in Go's forms `e`, `f` and `g`. */
/** The value is 0.d1d2d3… × 10^point. Zero has no digits. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

export type FloatForm = 'e' | 'f' | 'g';

/**
 * A float as Go's strconv writes it.
 * @param precision digits behind the point (`e`, `f`) or in all (`g`); null: the fewest that read back the same
 */
export function formatFloat(value: number, form: FloatForm, precision: number | null): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  if (form === 'g') return sign + general(size, precision);
  if (precision === null) {
    const decimal = shortest(size);
    return sign + (form === 'e' ? exponent(decimal, Math.max(decimal.digits.length - 1, 0)) : fixed(decimal));
  }
  if (form === 'e') return sign + exponent(rounded(exact(size), precision + 1), precision);
  const decimal = exact(size);
  return sign + fixed(rounded(decimal, decimal.point + precision), precision);
}

function general(size: number, precision: number | null): string {
  const most = precision === 0 ? 1 : precision;
  const decimal = most === null ? shortest(size) : rounded(exact(size), most);
  const count = decimal.digits.length;
  let largest = most ?? 6;
  if (most !== null && most > count && count >= decimal.point) largest = count;
  const power = count === 0 ? -1 : decimal.point - 1;
  if (power >= -4 && power < largest) return fixed(decimal);
  return exponent(decimal, Math.max(Math.min(most ?? count, count) - 1, 0));
}

function exponent({ digits, point }: Decimal, precision: number): string {
  const shown = digits.padEnd(precision + 1, '0');
  const power = digits === '' ? 0 : point - 1;
  const fraction = precision > 0 ? `.${shown.slice(1, precision + 1)}` : '';
  const size = String(Math.abs(power)).padStart(2, '0');
  return `${shown.charAt(0)}${fraction}e${power < 0 ? '-' : '+'}${size}`;
}

function fixed({ digits, point }: Decimal, precision = Math.max(digits.length - point, 0)): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (precision === 0) return whole;
  const behind = '0'.repeat(Math.min(Math.max(-point, 0), precision)) + digits.slice(Math.max(point, 0));
  return `${whole}.${behind.slice(0, precision).padEnd(precision, '0')}`;
}

function shortest(size: number): Decimal {
  if (size === 0) return { digits: '', point: 0 };
  const [mantissa = '', power = ''] = size.toExponential().split('e');
  return trimmed(mantissa.replace('.', ''), Number(power) + 1);
}

const FLOAT = new DataView(new ArrayBuffer(8));

/** Every digit that the float has. */
function exact(size: number): Decimal {
  if (size === 0) return { digits: '', point: 0 };
  FLOAT.setFloat64(0, size);
  const bits = FLOAT.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = biased === 0 ? fraction : fraction | 0x10000000000000n;
  const power = (biased === 0 ? 1 : biased) - 1075;
  if (power >= 0) {
    const digits = (mantissa << BigInt(power)).toString();
    return trimmed(digits, digits.length);
  }
  const digits = (mantissa * 5n ** BigInt(-power)).toString();
  return trimmed(digits, digits.length + power);
}

/** Keeps that many digits; a half goes to the even neighbour. */
function rounded({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point: 0 };
  const next = digits.charCodeAt(count) - 48;
  const isHalf = next === 5 && digits.length === count + 1;
  const isOdd = count > 0 && (digits.charCodeAt(count - 1) - 48) % 2 === 1;
  if (next < 5 || (isHalf && !isOdd)) return trimmed(digits.slice(0, count), point);
  const raised = (BigInt(digits.slice(0, count) || '0') + 1n).toString();
  return trimmed(raised, point + raised.length - count);
}

function trimmed(digits: string, point: number): Decimal {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end--;
  return end === 0 ? { digits: '', point: 0 } : { digits: digits.slice(0, end), point };
}

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
