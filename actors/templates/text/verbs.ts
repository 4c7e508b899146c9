/** One value by one verb of printf, as Go's fmt writes it (templates §3 Printing, templates §5). */
import { codePoints, offsetOf } from '../../text.ts';
import { MOST_BYTES, tooLong } from '../failure.ts';
import {
  TemplateList,
  TemplateMap,
  TemplateMention,
  TemplateObject,
  TemplateTime,
  type TemplateValue,
  Trusted,
  typeName,
} from '../values.ts';
import {
  type FloatForm,
  fitsBackquotes,
  formatFloat,
  goQuoted,
  goQuotedRune,
  isPrintable,
} from './strconv.ts';
import { durationText, timeText } from './time.ts';

/** In place of Secrets that are printed as a whole. */
export const REDACTED = '[redacted]';

export interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  /** `%#v`: strings are quoted. */
  readonly quotes: boolean;
  /** In code points; null when none was given. */
  readonly width: number | null;
  readonly precision: number | null;
}

export const NO_FLAGS: Flags = {
  plus: false,
  minus: false,
  sharp: false,
  space: false,
  zero: false,
  quotes: false,
  width: null,
  precision: null,
};

/** A value as an action prints it; nil reads `<nil>`. */
export function printed(value: TemplateValue): string {
  if (typeof value === 'string') return value;
  if (value instanceof Trusted) return value.text;
  const builder = new TextBuilder();
  write(builder, value, 'v', NO_FLAGS);
  return builder.text;
}

export function formatted(value: TemplateValue, verb: string, flags: Flags): string {
  const builder = new TextBuilder();
  if (verb === 'T' && value !== null) builder.add(stringForm(goTypeName(value), 's', flags) ?? '');
  else if (value === null && verb === 'T') builder.add(padded('<nil>', flags));
  else write(builder, value, verb, flags);
  return builder.text;
}

/** Type names of Go where Go has the type. */
export function goTypeName(value: TemplateValue): string {
  return typeof value === 'number' ? 'float64' : typeName(value);
}

function write(builder: TextBuilder, value: TemplateValue, verb: string, flags: Flags): void {
  if (value === null) {
    builder.add(verb === 'v' ? padded('<nil>', flags) : `%!${verb}(<nil>)`);
  } else if (value instanceof TemplateList) {
    writeRow(builder, '[', value.items, ']', verb, flags);
  } else if (value instanceof TemplateObject) {
    writeRow(builder, '{', Object.values(value.fields), '}', verb, flags);
  } else if (value instanceof TemplateMap) {
    writeMap(builder, value, verb, flags);
  } else {
    builder.add(simple(value, verb, flags) ?? badVerb(value, verb, flags));
  }
}

function writeRow(
  builder: TextBuilder,
  open: string,
  items: readonly TemplateValue[],
  close: string,
  verb: string,
  flags: Flags,
): void {
  builder.add(open);
  for (const [index, item] of items.entries()) {
    if (index > 0) builder.add(' ');
    writeInner(builder, item, verb, flags);
  }
  builder.add(close);
}

function writeMap(builder: TextBuilder, map: TemplateMap, verb: string, flags: Flags): void {
  if (map.kind === 'secrets') {
    builder.add(REDACTED);
    return;
  }
  builder.add('map[');
  for (const [index, key] of map.keys.entries()) {
    if (index > 0) builder.add(' ');
    write(builder, key, verb, flags);
    builder.add(':');
    writeInner(builder, map.get(key) ?? null, verb, flags);
  }
  builder.add(']');
}

/** Inside other values nil is `<nil>` whatever the verb. */
function writeInner(builder: TextBuilder, value: TemplateValue, verb: string, flags: Flags): void {
  if (value === null) builder.add('<nil>');
  else write(builder, value, verb, flags);
}

type Simple = Exclude<TemplateValue, null | TemplateList | TemplateMap | TemplateObject>;

/** Null when the verb is not for such values. */
function simple(value: Simple, verb: string, flags: Flags): string | null {
  if (typeof value === 'string') return stringForm(value, verb, flags);
  if (typeof value === 'bigint') return intForm(value, verb, flags);
  if (typeof value === 'number') return floatForm(value, verb, flags);
  if (typeof value === 'boolean') return verb === 't' || verb === 'v' ? padded(String(value), flags) : null;
  if (value instanceof Trusted || value instanceof TemplateMention) {
    return stringForm(value.text, verb, flags);
  }
  if (value instanceof TemplateTime) return stringForm(timeText(value), verb, { ...flags, quotes: false });
  const isText = 'vsqxX'.includes(verb);
  return isText ? stringForm(durationText(value.nanos), verb, flags) : intForm(value.nanos, verb, flags);
}

function badVerb(value: Simple, verb: string, flags: Flags): string {
  return `%!${verb}(${goTypeName(value)}=${simple(value, 'v', flags) ?? ''})`;
}

function stringForm(text: string, verb: string, flags: Flags): string | null {
  if (verb === 's' || (verb === 'v' && !flags.quotes)) return padded(cut(text, flags), flags);
  if (verb === 'q' || verb === 'v') return quotedForm(cut(text, flags), verb, flags);
  return verb === 'x' || verb === 'X' ? hexForm(text, verb, flags) : null;
}

function quotedForm(text: string, verb: string, flags: Flags): string {
  const raw = verb === 'q' && flags.sharp && fitsBackquotes(text);
  return padded(raw ? `\`${text}\`` : goQuoted(text, verb === 'q' && flags.plus), flags);
}

function cut(text: string, { precision }: Flags): string {
  if (precision === null || text.length <= precision) return text;
  return text.slice(0, offsetOf(text, precision));
}

function hexForm(text: string, verb: string, flags: Flags): string {
  const bytes = Buffer.from(text).subarray(0, flags.precision ?? undefined);
  const pairs = [...bytes].map((byte) => byte.toString(16).padStart(2, '0'));
  const prefix = flags.sharp ? '0x' : '';
  const joined = flags.space ? pairs.map((pair) => prefix + pair).join(' ') : prefix + pairs.join('');
  const shown = pairs.length === 0 ? '' : joined;
  return padded(verb === 'X' ? shown.toUpperCase() : shown, flags);
}

const BASES: ReadonlyMap<string, bigint> = new Map([
  ['v', 10n],
  ['d', 10n],
  ['b', 2n],
  ['o', 8n],
  ['O', 8n],
  ['x', 16n],
  ['X', 16n],
]);
const PREFIXES: Readonly<Record<string, string>> = { b: '0b', x: '0x', X: '0X' };

function intForm(value: bigint, verb: string, flags: Flags): string | null {
  if (verb === 'c') return padded(character(value), flags);
  if (verb === 'q') return padded(goQuotedRune(character(value), flags.plus), flags);
  if (verb === 'U') return unicodeForm(value, flags);
  const base = BASES.get(verb);
  if (base === undefined) return null;
  const sign = value < 0n ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (flags.precision === 0 && value === 0n) return ' '.repeat(flags.width ?? 0);
  const size = (value < 0n ? -value : value).toString(Number(base));
  const zeros = flags.precision ?? (padsWithZeros(flags) ? (flags.width ?? 0) - sign.length : 0);
  const digits = size.padStart(zeros, '0');
  const prefix = verb === 'O' ? '0o' : flags.sharp ? prefixOf(verb, digits) : '';
  const shown = sign + prefix + (verb === 'X' ? digits.toUpperCase() : digits);
  return padded(shown, { ...flags, zero: false });
}

function prefixOf(verb: string, digits: string): string {
  if (verb === 'o') return digits.startsWith('0') ? '' : '0';
  return PREFIXES[verb] ?? '';
}

function padsWithZeros({ zero, minus, width }: Flags): boolean {
  return zero && !minus && width !== null;
}

const PRIVATE_MARKS = /[\uE000-\uE002]/;

/** Numbers may come from outside, and what marks Mentions inside an output must not. */
function character(value: bigint): string {
  const isCharacter = value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value <= 0xdfffn);
  const shown = isCharacter ? String.fromCodePoint(Number(value)) : '\uFFFD';
  return PRIVATE_MARKS.test(shown) ? '\uFFFD' : shown;
}

function unicodeForm(value: bigint, flags: Flags): string {
  const code = BigInt.asUintN(64, value).toString(16).toUpperCase();
  const point = `U+${code.padStart(Math.max(flags.precision ?? 4, 4), '0')}`;
  const shown = character(value);
  const withCharacter = flags.sharp && value >= 0n && value <= 0x10ffffn && isPrintable(shown);
  return padded(withCharacter ? `${point} '${shown}'` : point, { ...flags, zero: false });
}

const FLOAT_FORMS: ReadonlyMap<string, FloatForm> = new Map([
  ['v', 'g'],
  ['g', 'g'],
  ['G', 'g'],
  ['e', 'e'],
  ['E', 'e'],
  ['f', 'f'],
  ['F', 'f'],
]);

function floatForm(value: number, verb: string, flags: Flags): string | null {
  const form = FLOAT_FORMS.get(verb);
  if (form === undefined) return null;
  const precision = flags.precision ?? (form === 'g' ? null : 6);
  const text = formatFloat(value, form, precision);
  const bare = text.replace(/^[+-]/, '');
  const sign = text.startsWith('-') ? '-' : flags.plus ? '+' : flags.space ? ' ' : '';
  if (!Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? sign + bare : (sign || '+') + bare;
    return padded(shown, { ...flags, zero: false });
  }
  const withPoint = flags.sharp ? pointed(bare, form === 'g' ? (precision ?? 6) : 0) : bare;
  const shown = verb === 'E' || verb === 'G' ? withPoint.toUpperCase() : withPoint;
  if (!padsWithZeros(flags)) return padded(sign + shown, flags);
  return sign + shown.padStart((flags.width ?? 0) - sign.length, '0');
}

/** `#` demands a point, and for `g` the zeros that complete the precision. */
function pointed(text: string, significant: number): string {
  const [number = '', power] = text.split('e');
  const digits = number.replace('.', '').replace(/^0+/, '').length;
  const missing = Math.max(significant - (number === '0' ? 1 : digits), 0);
  const point = number.includes('.') ? '' : '.';
  return `${number}${point}${'0'.repeat(missing)}${power === undefined ? '' : `e${power}`}`;
}

function padded(text: string, flags: Flags): string {
  const { width } = flags;
  if (width === null) return text;
  const missing = width - codePoints(text);
  if (missing <= 0) return text;
  if (flags.minus) return text + ' '.repeat(missing);
  return (flags.zero ? '0' : ' ').repeat(missing) + text;
}

/** Puts a text together that may not grow without end. */
export class TextBuilder {
  #text = '';

  /** @throws {Refusal} when the text becomes longer than any result may be */
  add(text: string): void {
    this.room(text.length);
    this.#text += text;
  }

  /** Asks before something long is made. Counts UTF-16 units, of which a result never has more than bytes. */
  room(length: number): void {
    if (this.#text.length + length > MOST_BYTES) throw tooLong();
  }

  get text(): string {
    return this.#text;
  }
}
