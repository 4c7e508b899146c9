/** Go's constants: strings with escapes, raw strings, characters and numbers (templates §2). */
import { TemplateFailure } from '../failure.ts';

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};
const BYTE = /x([0-9A-Fa-f]{2})|([0-7]{3})/y;
const POINT = /u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})/y;

interface Escape {
  /** A byte of UTF-8, or a whole text. */
  readonly value: number | string;
  /** Behind the backslash. */
  readonly length: number;
}

/** The value of a constant in double quotes that stands at `at`. @throws {TemplateFailure} */
export function quotedText(quoted: string, at: number): string {
  const body = quoted.slice(1, -1);
  if (!body.includes('\\')) return body;
  let [text, index] = ['', 0];
  const bytes: number[] = [];
  const flush = () => {
    if (bytes.length > 0) text += Buffer.from(bytes.splice(0)).toString('utf8');
  };
  while (index < body.length) {
    if (body[index] !== '\\') {
      flush();
      text += body.charAt(index++);
      continue;
    }
    const escaped = escapeAt(body, index + 1, at + 1);
    if (typeof escaped.value === 'number') bytes.push(escaped.value);
    else {
      flush();
      text += escaped.value;
    }
    index += 1 + escaped.length;
  }
  flush();
  return text;
}

/** A raw constant: as it stands, without carriage returns. */
export function rawText(raw: string): string {
  return raw.slice(1, -1).replaceAll('\r', '');
}

/** The integer that a constant in single quotes means. @throws {TemplateFailure} */
export function runeOf(quoted: string, at: number): bigint {
  const body = quoted.slice(1, -1);
  const escaped = body.startsWith('\\') ? escapeAt(body, 1, at + 1) : null;
  const value = escaped?.value ?? body;
  const length = escaped ? escaped.length + 1 : String.fromCodePoint(body.codePointAt(0) ?? 0).length;
  if (body === '' || length !== body.length) {
    throw new TemplateFailure(`bad character ${quoted}`, at);
  }
  return BigInt(typeof value === 'number' ? value : (value.codePointAt(0) ?? 0));
}

function escapeAt(body: string, index: number, start: number): Escape {
  const simple = SIMPLE[body.charAt(index)];
  if (simple !== undefined) return { value: simple, length: 1 };
  const byte = found(BYTE, body, index);
  const code = byte ? parseInt(byte[1] ?? byte[2] ?? '', byte[1] === undefined ? 8 : 16) : 256;
  if (byte && code < 256) return { value: code, length: byte[0].length };
  const point = found(POINT, body, index);
  const number = point ? parseInt(point[1] ?? point[2] ?? '', 16) : -1;
  if (!point || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff)) {
    throw new TemplateFailure('bad escape in string', start + index - 1);
  }
  return { value: String.fromCodePoint(number), length: point[0].length };
}

const INTEGER =
  /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[oO](?:_?[0-7])+|0[bB](?:_?[01])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)$/;
const FLOAT =
  /^[+-]?(?:(?:[0-9](?:_?[0-9])*)(?:\.(?:[0-9](?:_?[0-9])*)?)?|\.[0-9](?:_?[0-9])*)(?:[eE][+-]?[0-9](?:_?[0-9])*)?$/;
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

/** An integer, or a float when it is written with a point or an exponent. @throws {TemplateFailure} */
export function numberOf(text: string, at: number): bigint | number {
  const integer = INTEGER.exec(text);
  if (integer) {
    const digits = (integer[2] ?? '').replaceAll('_', '').toLowerCase();
    const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits);
    const value = integer[1] === '-' ? -size : size;
    if (value >= SMALLEST && value <= LARGEST) return value;
  } else if (FLOAT.test(text) && /[.eE]/.test(text)) {
    const value = Number(text.replaceAll('_', ''));
    if (Number.isFinite(value)) return value;
  }
  throw new TemplateFailure(`bad number ${JSON.stringify(text)}`, at);
}

function found(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
