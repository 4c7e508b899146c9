/** Defines template functions: typed parameters, and the inputs from outside that a call may use. */
import type { SearchRegex } from '../../route/search.ts';
import { Refusal } from '../failure.ts';
import type { MentionTarget, RenderContext, TemplateKind } from '../types.ts';
import {
  TemplateDuration,
  TemplateList,
  TemplateMap,
  TemplateTime,
  type TemplateValue,
  Trusted,
  textOf,
  typeName,
} from '../values.ts';

/** What a function receives of its call besides the arguments. */
export interface Call {
  readonly context: RenderContext;
  readonly kind: TemplateKind;
  /** Whether every argument is trusted; then a string made from them is, too. */
  readonly trusted: boolean;
  /** A value as it may be printed: untrusted strings are capped (templates §7 rule 3). */
  shown(value: TemplateValue): TemplateValue;
  /** An untrusted value, escaped for the output format. */
  escape(text: string): string;
  /**
   * Counts work that takes longer the larger the arguments are.
   * @param advice what to do about it
   * @throws when the render took too long
   */
  readonly spend: (steps: number, advice?: string) => void;
  /** Rows of Lookup tables that were looked up so far. */
  readonly lookedUp: Set<string>;
  /** Notes that a Mention was made. */
  mentioned(target: MentionTarget): void;
  /** Names of zones that this render asked for. */
  readonly zones: Set<string>;
  /** Compiled expressions of this render. */
  readonly expressions: Map<string, SearchRegex>;
}

export interface TemplateFunction {
  readonly least: number;
  /** Infinity: any number. */
  readonly most: number;
  /** The function escapes its result itself; it is printed unchanged. */
  readonly escapes: boolean;
  /** The result comes from outside the arguments and is never trusted. */
  readonly fromOutside: boolean;
  run(values: readonly TemplateValue[], call: Call): TemplateValue;
}

/** A parameter: the name of its type and how a value is read; undefined for a value of another type. */
export interface Parameter<T> {
  readonly type: string;
  read(value: TemplateValue): T | undefined;
}

export const text: Parameter<string> = { type: 'string', read: (value) => textOf(value) ?? undefined };
export const int: Parameter<bigint> = {
  type: 'int',
  read: (value) => (typeof value === 'bigint' ? value : undefined),
};
export const number: Parameter<bigint | number> = {
  type: 'int or float',
  read: (value) => (typeof value === 'bigint' || typeof value === 'number' ? value : undefined),
};
export const bool: Parameter<boolean> = {
  type: 'bool',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
};
export const list: Parameter<TemplateList> = {
  type: 'list',
  read: (value) => (value instanceof TemplateList ? value : undefined),
};
export const map: Parameter<TemplateMap> = {
  type: 'map',
  read: (value) => (value instanceof TemplateMap ? value : undefined),
};
export const time: Parameter<TemplateTime> = {
  type: 'time',
  read: (value) => (value instanceof TemplateTime ? value : undefined),
};
export const duration: Parameter<TemplateDuration> = {
  type: 'duration',
  read: (value) => (value instanceof TemplateDuration ? value : undefined),
};
export const any: Parameter<TemplateValue> = { type: 'any', read: (value) => value };

/** Reads one argument. @param index 0-based @throws {Refusal} when it has another type */
export function argument<T>(values: readonly TemplateValue[], index: number, parameter: Parameter<T>): T {
  const value = values[index] ?? null;
  const read = parameter.read(value);
  if (read !== undefined) return read;
  throw new Refusal(`argument ${index + 1} must be ${parameter.type}, not ${typeName(value)}`);
}

type Run = TemplateFunction['run'];

export function define(least: number, most: number, run: Run): TemplateFunction {
  return { least, most, escapes: false, fromOutside: false, run };
}

export function none(run: (call: Call) => TemplateValue): TemplateFunction {
  return define(0, 0, (_, call) => run(call));
}

export function one<A>(a: Parameter<A>, run: (a: A, call: Call) => TemplateValue): TemplateFunction {
  return define(1, 1, (values, call) => run(argument(values, 0, a), call));
}

export function two<A, B>(
  a: Parameter<A>,
  b: Parameter<B>,
  run: (a: A, b: B, call: Call) => TemplateValue,
): TemplateFunction {
  return define(2, 2, (values, call) => run(argument(values, 0, a), argument(values, 1, b), call));
}

export function three<A, B, C>(
  a: Parameter<A>,
  b: Parameter<B>,
  c: Parameter<C>,
  run: (a: A, b: B, c: C, call: Call) => TemplateValue,
): TemplateFunction {
  return define(3, 3, (values, call) =>
    run(argument(values, 0, a), argument(values, 1, b), argument(values, 2, c), call),
  );
}

/** Any number of arguments of one type. */
export function each<A>(
  least: number,
  a: Parameter<A>,
  run: (all: readonly A[], call: Call) => TemplateValue,
): TemplateFunction {
  return define(least, Infinity, (values, call) =>
    run(
      values.map((_, index) => argument(values, index, a)),
      call,
    ),
  );
}

export function escaping(made: TemplateFunction): TemplateFunction {
  return { ...made, escapes: true };
}

export function fromOutside(made: TemplateFunction): TemplateFunction {
  return { ...made, fromOutside: true };
}

/** Strings as items, trusted if all arguments are. */
export function textItems(parts: readonly string[], call: Call): TemplateList {
  return new TemplateList(call.trusted ? parts.map((part) => new Trusted(part)) : parts);
}
