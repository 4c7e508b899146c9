/** Values of pipelines: constants, fields, calls (templates §2 to §4). */
import type { SearchRegex } from '../../route/search.ts';
import { codePoints } from '../../text.ts';
import {
  MOST_BYTES,
  MOST_CHARACTERS,
  MOST_ITEMS,
  MOST_NESTED_VALUES,
  Refusal,
  TemplateFailure,
  tooLong,
} from '../failure.ts';
import type { Call, TemplateFunction } from '../functions/define.ts';
import { FUNCTIONS } from '../functions/table.ts';
import type { Command, Field, Operand, Pipeline } from '../syntax/tree.ts';
import {
  capped,
  type MentionTarget,
  type RenderContext,
  type TemplateKind,
  withoutControls,
} from '../types.ts';
import {
  isTrue,
  isTrusted,
  TemplateList,
  TemplateMap,
  type TemplateValue,
  Trusted,
  textOf,
} from '../values.ts';
import type { Budget } from './budget.ts';
import { memberOf } from './members.ts';

/** What names mean at one place of a template. */
export interface Surroundings {
  readonly dot: TemplateValue;
  /** The first is `$`. */
  readonly slots: TemplateValue[];
}

type Operands = readonly Operand[];

/** Characters that a function reads or makes in one step; those that look at each by itself need about so long. */
const SIZE_OF_STEP = 4;
/** Of a call, whatever the arguments: about what the dearer functions need for small ones. */
const STEPS_OF_CALL = 6;

export class Expressions {
  readonly mentions = new Map<string, MentionTarget>();
  readonly #context: RenderContext;
  readonly #kind: TemplateKind;
  readonly #budget: Budget;
  readonly #isPlain: boolean;
  readonly #lookedUp: Set<string>;
  readonly #compiled = new Map<string, SearchRegex>();
  readonly #zones = new Set<string>();
  readonly #callOfTrusted: Call;
  readonly #callOfOthers: Call;

  constructor(context: RenderContext, kind: TemplateKind, budget: Budget) {
    this.#context = context;
    this.#kind = kind;
    this.#budget = budget;
    this.#isPlain = context.format.name === 'plain';
    this.#lookedUp = context.lookedUp ?? new Set();
    this.#callOfTrusted = this.#callOf(true);
    this.#callOfOthers = this.#callOf(false);
  }

  /** @throws {TemplateFailure | Refusal} */
  pipeline({ commands, slot }: Pipeline, around: Surroundings): TemplateValue {
    let value: TemplateValue | undefined;
    for (const command of commands) value = this.#command(command, around, value);
    const result = value ?? null;
    if (slot !== null) around.slots[slot] = result;
    return result;
  }

  /** Strings of others as they may be printed. */
  shown(value: TemplateValue): TemplateValue {
    return typeof value === 'string' && !this.#isPlain ? capped(value) : value;
  }

  /** What is printed of an untrusted value, fit for the format. */
  escape(text: string): string {
    return this.#isPlain ? text : this.#context.format.escape(withoutControls(text));
  }

  /** @param final what the command before hands over; undefined for the first */
  #command(command: Command, around: Surroundings, final: TemplateValue | undefined): TemplateValue {
    const [first, ...operands] = command;
    this.#budget.spend(1);
    if (first.kind === 'function') return this.#function(first.name, first.at, operands, around, final);
    if (first.kind === 'chain') return this.#chain(first.base, first.fields, operands, around, final);
    return this.#operand(first, around);
  }

  #operand(operand: Operand, around: Surroundings): TemplateValue {
    switch (operand.kind) {
      case 'constant':
        return operand.value;
      case 'dot':
        return around.dot;
      case 'variable':
        return around.slots[operand.slot] ?? null;
      case 'group':
        return this.pipeline(operand.pipeline, around);
      case 'function':
        return this.#function(operand.name, operand.at, [], around, undefined);
      case 'chain':
        return this.#chain(operand.base, operand.fields, [], around, undefined);
    }
  }

  #chain(
    base: Operand,
    fields: readonly Field[],
    operands: Operands,
    around: Surroundings,
    final: TemplateValue | undefined,
  ): TemplateValue {
    let value = this.#operand(base, around);
    for (const [index, field] of fields.entries()) {
      const isLast = index === fields.length - 1;
      value = isLast
        ? this.#member(value, field, operands, around, final)
        : this.#member(value, field, [], around, undefined);
    }
    return value;
  }

  #member(
    subject: TemplateValue,
    { name, at }: Field,
    operands: Operands,
    around: Surroundings,
    final: TemplateValue | undefined,
  ): TemplateValue {
    this.#budget.spend(1);
    const member = memberOf(subject, name);
    if (member.kind === 'none') throw new TemplateFailure(member.detail, at);
    const trusted = isTrusted(subject);
    if (member.kind === 'method') {
      return this.#call(
        name,
        at,
        member.method,
        this.#arguments(name, at, member.method, operands, around, final),
        trusted,
      );
    }
    if (operands.length > 0 || final !== undefined) {
      throw new TemplateFailure(`${JSON.stringify(name)} takes no arguments`, at);
    }
    return member.value;
  }

  #function(
    name: string,
    at: number,
    operands: Operands,
    around: Surroundings,
    final: TemplateValue | undefined,
  ): TemplateValue {
    const called = FUNCTIONS.get(name);
    if (!called)
      throw new TemplateFailure(`function ${JSON.stringify(name)} is not defined`, at, 'unknown_function');
    if (name === 'and' || name === 'or') {
      checkCount(name, at, called, operands.length + (final === undefined ? 0 : 1));
      return this.#shortCircuit(name, operands, around, final);
    }
    return this.#call(name, at, called, this.#arguments(name, at, called, operands, around, final), true);
  }

  /** The arguments of `and` and `or` are evaluated only until one decides. */
  #shortCircuit(
    name: 'and' | 'or',
    operands: Operands,
    around: Surroundings,
    final: TemplateValue | undefined,
  ): TemplateValue {
    let [value, trusted]: [TemplateValue, boolean] = [null, true];
    for (let index = 0; index < operands.length || final !== undefined; index++) {
      const operand = operands[index];
      value = operand ? this.#operand(operand, around) : (final ?? null);
      trusted &&= typeof value !== 'string';
      if (!operand || isTrue(value) === (name === 'or')) break;
    }
    return value instanceof Trusted && !trusted ? value.text : value;
  }

  #arguments(
    name: string,
    at: number,
    called: TemplateFunction,
    operands: Operands,
    around: Surroundings,
    final: TemplateValue | undefined,
  ): TemplateValue[] {
    checkCount(name, at, called, operands.length + (final === undefined ? 0 : 1));
    const values = operands.map((operand) => this.#operand(operand, around));
    if (final !== undefined) values.push(final);
    return values;
  }

  /** @param trusted whether the value that a method belongs to is */
  #call(
    name: string,
    at: number,
    called: TemplateFunction,
    values: readonly TemplateValue[],
    trusted: boolean,
  ): TemplateValue {
    this.#budget.spend(STEPS_OF_CALL + sizeOf(values) / SIZE_OF_STEP);
    const allTrusted = trusted && values.every((value) => isTrusted(value));
    try {
      const result = called.run(values, allTrusted ? this.#callOfTrusted : this.#callOfOthers);
      this.#budget.spend(sizeOf([result]) / SIZE_OF_STEP);
      checkResult(result);
      return markTrust(called, values, allTrusted, result);
    } catch (error) {
      if (!(error instanceof Refusal) || error.about === 'action') throw error;
      if (error.about === 'name') throw new TemplateFailure(error.message, at, 'unknown_function');
      throw new TemplateFailure(`${name}: ${error.message}`, at);
    }
  }

  #callOf(trusted: boolean): Call {
    return {
      context: this.#context,
      kind: this.#kind,
      trusted,
      lookedUp: this.#lookedUp,
      zones: this.#zones,
      expressions: this.#compiled,
      shown: (value) => this.shown(value),
      escape: (text) => this.escape(text),
      spend: (steps, advice) => this.#budget.spend(steps, advice),
      mentioned: (target) => {
        this.mentions.set(JSON.stringify(target), target);
      },
    };
  }
}

function checkCount(name: string, at: number, { least, most }: TemplateFunction, given: number): void {
  if (given >= least && given <= most) return;
  const plural = (count: number) => `${count} argument${count === 1 ? '' : 's'}`;
  const wanted =
    least === most
      ? plural(least)
      : most === Infinity
        ? `at least ${plural(least)}`
        : `${least} to ${plural(most)}`;
  throw new TemplateFailure(`${name} takes ${wanted}, got ${given}`, at);
}

/** How much there is to look at. */
function sizeOf(values: readonly TemplateValue[]): number {
  let size = 0;
  for (const value of values) {
    size += value instanceof TemplateList ? value.items.length * 16 : (textOf(value)?.length ?? 0);
  }
  return size;
}

/** @throws {Refusal} when a result is larger than any may be (templates §9) */
function checkResult(value: TemplateValue): void {
  const string = textOf(value);
  if (string !== null) {
    if (string.length > MOST_CHARACTERS && codePoints(string) > MOST_CHARACTERS) throw tooLong();
    if (string.length * 3 > MOST_BYTES && Buffer.byteLength(string) > MOST_BYTES) throw tooLarge();
    return;
  }
  if (!(value instanceof TemplateList) && !(value instanceof TemplateMap)) return;
  const count = value instanceof TemplateList ? value.items.length : value.keys.length;
  if (count > MOST_ITEMS) throw new Refusal(`result has more than ${MOST_ITEMS} items`);
  if (value.weight.bytes > MOST_BYTES) throw tooLarge();
  if (value.weight.depth > MOST_NESTED_VALUES) {
    throw new Refusal(`result is nested deeper than ${MOST_NESTED_VALUES}`);
  }
}

function tooLarge(): Refusal {
  return new Refusal(`result is larger than ${MOST_BYTES} bytes`);
}

/** templates §7 rule 2: a string is trusted when the function escapes by itself, or when all its arguments are. */
function markTrust(
  called: TemplateFunction,
  values: readonly TemplateValue[],
  allTrusted: boolean,
  result: TemplateValue,
): TemplateValue {
  if (typeof result === 'string') {
    const trusted = called.escapes || (allTrusted && !called.fromOutside);
    return trusted ? new Trusted(result) : result;
  }
  const passesOn = result instanceof Trusted && !values.some((value) => typeof value === 'string');
  return result instanceof Trusted && !passesOn ? result.text : result;
}
