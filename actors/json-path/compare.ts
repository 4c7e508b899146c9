/** Comparisons of a filter (RFC 9535 §2.3.5.2.2). */
import { JsonNumber, type JsonValue } from './json.ts';
import type { Operator } from './path.ts';

/** @param left undefined: nothing */
export function compares(
  operator: Operator,
  left: JsonValue | undefined,
  right: JsonValue | undefined,
): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right);
    case '!=':
      return !isEqual(left, right);
    case '<':
      return isLess(left, right);
    case '>':
      return isLess(right, left);
    case '<=':
      return isLess(left, right) || isEqual(left, right);
    case '>=':
      return isLess(right, left) || isEqual(left, right);
  }
}

function isLess(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left instanceof JsonNumber && right instanceof JsonNumber) return order(left, right) < 0;
  if (typeof left !== 'string' || typeof right !== 'string') return false;
  return Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}

function isEqual(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left instanceof JsonNumber && right instanceof JsonNumber) return order(left, right) === 0;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isEqual(item, right[index]));
  }
  if (!(left instanceof Map && right instanceof Map)) return left === right;
  return left.size === right.size && [...left].every(([name, value]) => isEqual(value, right.get(name)));
}

const WHOLE = /^-?\d+$/;

/** Whole numbers to their last digit, others as floats. */
function order({ source: left }: JsonNumber, { source: right }: JsonNumber): number {
  const [a, b] =
    WHOLE.test(left) && WHOLE.test(right) ? [BigInt(left), BigInt(right)] : [Number(left), Number(right)];
  return a < b ? -1 : Number(a > b);
}
