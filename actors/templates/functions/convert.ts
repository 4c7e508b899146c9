/** Defaults, choices and conversions (templates §6). */
import { Refusal } from '../failure.ts';
import { formatTime } from '../text/time.ts';
import { printed, REDACTED, TextBuilder } from '../text/verbs.ts';
import {
  isTrue,
  TemplateDuration,
  TemplateList,
  TemplateMap,
  TemplateMention,
  TemplateObject,
  TemplateTime,
  type TemplateValue,
  Trusted,
  textOf,
  typeName,
} from '../values.ts';
import { any, define, one, type TemplateFunction, three, two } from './define.ts';
import { inRange } from './numbers.ts';

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

function toInt(value: TemplateValue): TemplateValue {
  if (typeof value === 'bigint') return value;
  if (typeof value === 'boolean') return value ? 1n : 0n;
  const string = textOf(value)?.trim();
  if (string !== undefined && INTEGER.test(string) && string.length < 40) {
    return inRange(BigInt(string.replace(/^\+/, '')));
  }
  const size = Math.trunc(floatOf(value, 'int'));
  if (!Number.isFinite(size)) throw new Refusal('the number is too large');
  return inRange(BigInt(size));
}

function floatOf(value: TemplateValue, to: string): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  const string = textOf(value)?.trim();
  if (string === undefined) throw new Refusal(`cannot make ${to} of ${typeName(value)}`);
  if (!NUMBER.test(string)) throw new Refusal(`the string is no ${to}`);
  return Number(string);
}

function toBool(value: TemplateValue): TemplateValue {
  const string = textOf(value)?.trim().toLowerCase();
  if (string === 'true') return true;
  if (string === 'false') return false;
  return floatOf(value, 'bool') !== 0;
}

export const CONVERSIONS: Readonly<Record<string, TemplateFunction>> = {
  default: two(any, any, (fallback, value) => (isTrue(value) ? value : fallback)),
  empty: one(any, (value) => !isTrue(value)),
  coalesce: define(0, Infinity, (values) => values.find(isTrue) ?? null),
  ternary: three(any, any, any, (yes, no, condition) => (isTrue(condition) ? yes : no)),
  toString: one(any, (value) => (value === null ? '' : printed(value))),
  toInt: one(any, toInt),
  toFloat: one(any, (value) => floatOf(value, 'float')),
  toBool: one(any, toBool),
  toJson: one(any, jsonText),
};

/** @throws {Refusal} for NaN and infinity */
function jsonText(value: TemplateValue): string {
  const builder = new TextBuilder();
  write(builder, value);
  return builder.text;
}

function write(builder: TextBuilder, value: TemplateValue): void {
  if (value instanceof TemplateList) writeList(builder, value.items);
  else if (value instanceof TemplateObject) writeMembers(builder, Object.entries(value.fields));
  else if (value instanceof TemplateMap) writeMap(builder, value);
  else builder.add(simple(value));
}

function writeMap(builder: TextBuilder, map: TemplateMap): void {
  if (map.kind === 'secrets') builder.add(stringText(REDACTED));
  else
    writeMembers(
      builder,
      map.keys.map((key) => [key, map.get(key) ?? null] as const),
    );
}

function writeList(builder: TextBuilder, items: readonly TemplateValue[]): void {
  builder.add('[');
  for (const [index, item] of items.entries()) {
    if (index > 0) builder.add(',');
    write(builder, item);
  }
  builder.add(']');
}

function writeMembers(builder: TextBuilder, members: readonly (readonly [string, TemplateValue])[]): void {
  builder.add('{');
  for (const [index, [name, value]] of members.entries()) {
    builder.add(`${index > 0 ? ',' : ''}${stringText(name)}:`);
    write(builder, value);
  }
  builder.add('}');
}

type Simple = Exclude<TemplateValue, TemplateList | TemplateObject | TemplateMap>;

function simple(value: Simple): string {
  if (typeof value === 'string') return stringText(value);
  if (value instanceof Trusted || value instanceof TemplateMention) return stringText(value.text);
  if (value instanceof TemplateTime)
    return stringText(formatTime(value, '2006-01-02T15:04:05.999999999Z07:00'));
  if (value instanceof TemplateDuration) return value.nanos.toString();
  if (typeof value !== 'number') return String(value);
  if (Number.isFinite(value)) return String(value);
  throw new Refusal(`${Number.isNaN(value) ? 'NaN' : 'infinity'} has no JSON`);
}

/** What could end a script or break a line of one is written as an escape. */
function stringText(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
