/** Go's own functions besides comparisons (templates §4). `and` and `or` are the evaluator's: they read no further. */
import { compareBytes } from '../../text.ts';
import { Refusal } from '../failure.ts';
import { printf } from '../text/printf.ts';
import { printed, TextBuilder } from '../text/verbs.ts';
import {
  absent,
  isTrue,
  isTrusted,
  TemplateDuration,
  TemplateList,
  TemplateMap,
  TemplateTime,
  type TemplateValue,
  Trusted,
  textOf,
  typeName,
} from '../values.ts';
import {
  any,
  argument,
  type Call,
  define,
  escaping,
  int,
  one,
  type TemplateFunction,
  text,
} from './define.ts';
import { escapeHtml, escapeJs, escapeQuery } from './strings.ts';

/** Arguments as fmt.Sprint joins them, each that is not trusted escaped. */
function printedTogether(values: readonly TemplateValue[], call: Call, always: boolean): TextBuilder {
  const builder = new TextBuilder();
  let before: TemplateValue | undefined;
  for (const value of values) {
    const isApart = before !== undefined && textOf(before) === null && textOf(value) === null;
    if (before !== undefined && (always || isApart)) builder.add(' ');
    builder.add(insertion(value, call));
    before = value;
  }
  return builder;
}

/** A value as it is put into text of the template. */
export function insertion(value: TemplateValue, call: Call): string {
  const shown = printed(call.shown(value));
  return isTrusted(value) ? shown : call.escape(shown);
}

/** The arguments of `html`, `js` and `urlquery`, printed; not escaped for a format. */
function plainly(values: readonly TemplateValue[]): string {
  const builder = new TextBuilder();
  let before: TemplateValue | undefined;
  for (const value of values) {
    if (before !== undefined && textOf(before) === null && textOf(value) === null) builder.add(' ');
    builder.add(value === null ? '<no value>' : printed(value));
    before = value === null ? '<no value>' : value;
  }
  return builder.text;
}

function lengthOf(value: TemplateValue): bigint {
  const string = textOf(value);
  if (string !== null) return BigInt(Buffer.byteLength(string));
  if (value instanceof TemplateList) return BigInt(value.items.length);
  if (value instanceof TemplateMap) return BigInt(value.keys.length);
  throw new Refusal(`argument 1 must be string, list or map, not ${typeName(value)}`);
}

function indexed(values: readonly TemplateValue[]): TemplateValue {
  let value = values[0] ?? null;
  for (let place = 1; place < values.length; place++) value = itemOf(value, values, place);
  return value;
}

function itemOf(value: TemplateValue, values: readonly TemplateValue[], place: number): TemplateValue {
  if (value instanceof TemplateMap) {
    const key = argument(values, place, text);
    const found = value.get(key);
    if (found !== undefined) return found;
    const missing = absent(value, key);
    if (typeof missing === 'string') throw new Refusal(missing);
    return missing.value;
  }
  const string = textOf(value);
  if (value instanceof TemplateList) return value.items[inRange(values, place, value.items.length)] ?? null;
  if (string === null) throw new Refusal(`cannot index ${typeName(value)}`);
  const bytes = Buffer.from(string);
  return BigInt(bytes[inRange(values, place, bytes.length)] ?? 0);
}

function inRange(values: readonly TemplateValue[], place: number, length: number): number {
  const index = argument(values, place, int);
  if (index >= 0n && index < BigInt(length)) return Number(index);
  throw new Refusal(`${index} is out of range (length ${length})`);
}

function sliced(values: readonly TemplateValue[]): TemplateValue {
  const value = values[0] ?? null;
  const string = textOf(value);
  if (value instanceof TemplateList) {
    const [from, to] = bounds(values, value.items.length);
    return new TemplateList(value.items.slice(from, to), value.kind);
  }
  if (string === null) throw new Refusal(`cannot slice ${typeName(value)}`);
  const bytes = Buffer.from(string);
  const [from, to] = bounds(values, bytes.length);
  return bytesText(bytes, from, to);
}

function bounds(values: readonly TemplateValue[], length: number): [from: number, to: number] {
  const from = values.length > 1 ? argument(values, 1, int) : 0n;
  const to = values.length > 2 ? argument(values, 2, int) : BigInt(length);
  for (const bound of [from, to]) {
    if (bound < 0n || bound > BigInt(length))
      throw new Refusal(`${bound} is out of range (length ${length})`);
  }
  if (from > to) throw new Refusal(`${from} is behind ${to}`);
  return [Number(from), Number(to)];
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** A part of UTF-8; a character that is cut at an edge becomes one U+FFFD there. */
function bytesText(bytes: Buffer, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < to && isContinuation(bytes[start])) start++;
  if (start === to) return start > from ? '\uFFFD' : '';
  if (isContinuation(bytes[to])) while (end > start && isContinuation(bytes[end])) end--;
  const before = start > from ? '\uFFFD' : '';
  return before + bytes.toString('utf8', start, end) + (end < to ? '\uFFFD' : '');
}

function formattedText(values: readonly TemplateValue[], call: Call): TemplateValue {
  const format = values[0] ?? null;
  const trusted = format instanceof Trusted;
  const shown = values.slice(1).map((value) => call.shown(value));
  return printf(argument(values, 0, text), trusted, shown, (part) => call.escape(part));
}

export const BUILTINS: Readonly<Record<string, TemplateFunction>> = {
  and: define(1, Infinity, (values) => values.at(-1) ?? null),
  or: define(1, Infinity, (values) => values.at(-1) ?? null),
  not: one(any, (value) => !isTrue(value)),
  len: one(any, lengthOf),
  index: define(1, Infinity, indexed),
  slice: define(1, 3, sliced),
  print: escaping(define(0, Infinity, (values, call) => printedTogether(values, call, false).text)),
  println: escaping(define(0, Infinity, (values, call) => `${printedTogether(values, call, true).text}\n`)),
  printf: escaping(define(1, Infinity, formattedText)),
  html: define(0, Infinity, (values) => escapeHtml(plainly(values))),
  js: define(0, Infinity, (values) => escapeJs(plainly(values))),
  urlquery: define(0, Infinity, (values) => escapeQuery(plainly(values))),
};

/** Below, equal, above; null when the two cannot be told in order. */
type Order = number | null;

/** The order of two values of one type. NaN is neither equal to anything nor before it. */
function order(left: TemplateValue, right: TemplateValue): Order {
  if (typeof left === 'bigint' && typeof right === 'bigint') return spread(left, right);
  if (typeof left === 'number' && typeof right === 'number') {
    return left < right ? -1 : left > right ? 1 : left === right ? 0 : Number.NaN;
  }
  if (left instanceof TemplateTime && right instanceof TemplateTime) return spread(left.nanos, right.nanos);
  if (left instanceof TemplateDuration && right instanceof TemplateDuration) {
    return spread(left.nanos, right.nanos);
  }
  const [leftText, rightText] = [textOf(left), textOf(right)];
  return leftText === null || rightText === null ? null : compareBytes(leftText, rightText);
}

function spread(left: bigint, right: bigint): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function equal(left: TemplateValue, right: TemplateValue): boolean {
  if (left === null || right === null) return left === right;
  if (typeof left === 'boolean' && typeof right === 'boolean') return left === right;
  return ordered(left, right) === 0;
}

function ordered(left: TemplateValue, right: TemplateValue): number {
  const result = order(left, right);
  if (result !== null) return result;
  throw new Refusal(`cannot compare ${typeName(left)} and ${typeName(right)}`);
}

function pair(decide: (left: TemplateValue, right: TemplateValue) => boolean): TemplateFunction {
  return define(2, 2, ([left = null, right = null]) => decide(left, right));
}

export const COMPARISONS: Readonly<Record<string, TemplateFunction>> = {
  eq: define(2, Infinity, ([first = null, ...others]) => others.some((other) => equal(first, other))),
  ne: pair((left, right) => !equal(left, right)),
  lt: pair((left, right) => ordered(left, right) < 0),
  le: pair((left, right) => ordered(left, right) <= 0),
  gt: pair((left, right) => ordered(left, right) > 0),
  ge: pair((left, right) => ordered(left, right) >= 0),
};
