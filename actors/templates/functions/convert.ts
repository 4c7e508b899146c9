/** Defaults, choices and conversions (templates §6). */
import { Refusal } from '../refusal.ts';
import { printed } from '../text/verbs.ts';
import { isTrue, type TemplateValue, textOf, typeName } from '../values.ts';
import { any, define, one, type TemplateFunction, three, two } from './define.ts';
import { jsonText } from './json.ts';
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
