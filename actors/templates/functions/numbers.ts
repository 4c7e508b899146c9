/** Arithmetic: integers stay integers, any float makes a float (templates §6). */
import { countedTooFar, MOST_COUNTED, Refusal } from '../failure.ts';
import { formatTime, humanDuration, zoneOf } from '../text/time.ts';
import { TemplateDuration, TemplateList, TemplateTime, type TemplateValue, typeName } from '../values.ts';
import {
  any,
  argument,
  define,
  each,
  int,
  none,
  number,
  one,
  type TemplateFunction,
  text,
  three,
  time,
  two,
} from './define.ts';

const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

/** @throws {Refusal} beyond 64 bits */
export function inRange(value: bigint): bigint {
  if (value < SMALLEST || value > LARGEST) throw new Refusal('the result is too large for an int');
  return value;
}

function folded(
  ints: (left: bigint, right: bigint) => bigint,
  floats: (left: number, right: number) => number,
): TemplateFunction {
  return each(2, number, (values) => {
    const whole = values.filter((value) => typeof value === 'bigint');
    if (whole.length < values.length) return values.map(Number).reduce((left, right) => floats(left, right));
    return whole.reduce((left, right) => inRange(ints(left, right)));
  });
}

function divided<T>(divide: (left: T, right: T) => T, zero: T): (left: T, right: T) => T {
  return (left, right) => {
    if (right === zero) throw new Refusal('division by zero');
    return divide(left, right);
  };
}

function counted(first: bigint, end: bigint, step: bigint): bigint[] {
  if (step === 0n) throw new Refusal('the step must not be 0');
  const numbers: bigint[] = [];
  for (let at = first; step > 0n ? at < end : at > end; at += step) {
    if (numbers.push(at) > MOST_COUNTED) throw countedTooFar();
  }
  return numbers;
}

/** Numbers from the first to the last, both included, as a text. */
function sequence(first: bigint, step: bigint, last: bigint): string {
  return counted(first, step > 0n ? last + 1n : last - 1n, step).join(' ');
}

export const NUMBERS: Readonly<Record<string, TemplateFunction>> = {
  add: folded(
    (left, right) => left + right,
    (left, right) => left + right,
  ),
  sub: folded(
    (left, right) => left - right,
    (left, right) => left - right,
  ),
  mul: folded(
    (left, right) => left * right,
    (left, right) => left * right,
  ),
  div: folded(
    divided((left: bigint, right: bigint) => left / right, 0n),
    divided((left: number, right: number) => left / right, 0),
  ),
  mod: each(2, int, (values) => values.reduce(divided((left, right) => left % right, 0n))),
  max: folded((left, right) => (left > right ? left : right), Math.max),
  min: folded((left, right) => (left < right ? left : right), Math.min),
  until: one(int, (end) => new TemplateList(counted(0n, end, 1n))),
  untilStep: three(int, int, int, (first, end, step) => new TemplateList(counted(first, end, step))),
  seq: define(1, 3, (values) => {
    const numbers = values.map((_, index) => argument(values, index, int));
    const [first = 1n, step = first, last = step] = numbers.length === 1 ? [1n, ...numbers] : numbers;
    if (numbers.length === 3) return sequence(first, step, last);
    return sequence(first, last < first ? -1n : 1n, last);
  }),
};

/** Work of finding a zone by its name. */
const FINDING = 500;
const LONGEST = 2n ** 63n - 1n;

/** The time between two instants, as far as a duration reaches. */
export function between(later: TemplateTime, earlier: TemplateTime): TemplateDuration {
  return new TemplateDuration(fitting(later.nanos - earlier.nanos));
}

function fitting(nanos: bigint): bigint {
  if (nanos > LONGEST) return LONGEST;
  return nanos < -LONGEST ? -LONGEST - 1n : nanos;
}

function nanosOf(value: TemplateValue): bigint {
  if (value instanceof TemplateDuration) return value.nanos;
  if (typeof value === 'bigint') return fitting(value * 1_000_000_000n);
  if (typeof value === 'number' && Number.isFinite(value)) {
    const seconds = Math.trunc(value);
    return fitting(BigInt(seconds) * 1_000_000_000n + BigInt(Math.round((value - seconds) * 1e9)));
  }
  throw new Refusal(`argument 1 must be int, float or duration, not ${typeName(value)}`);
}

export const TIMES: Readonly<Record<string, TemplateFunction>> = {
  now: none(({ context }) => TemplateTime.of(context.now, context.zone)),
  since: one(time, (at, { context }) => between(TemplateTime.of(context.now, context.zone), at)),
  date: two(text, time, (layout, at) => formatTime(at, layout)),
  tz: two(text, time, (name, at, call) => {
    if (!call.zones.has(name)) call.spend(FINDING);
    call.zones.add(name);
    const zone = zoneOf(name);
    if (zone === null) throw new Refusal(`there is no zone ${JSON.stringify(name)}`);
    return new TemplateTime(at.nanos, zone);
  }),
  humanizeDuration: one(any, (value) => humanDuration(nanosOf(value))),
};
