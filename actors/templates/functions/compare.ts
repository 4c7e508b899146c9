/** Comparison and length (templates §4). */
import { compareBytes } from '../bytes.ts';
import { Refusal } from '../refusal.ts';
import { TemplateDuration, TemplateTime, type TemplateValue, textOf, typeName } from '../values.ts';
import { define, type TemplateFunction } from './define.ts';

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
