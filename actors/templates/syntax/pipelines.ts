/** Pipelines, commands and operands (templates §2). */
import { TemplateFailure } from '../failure.ts';
import { type TemplateValue, Trusted } from '../values.ts';
import { type Token, type TokenStream, unexpected } from './lexer.ts';
import { numberOf } from './literals.ts';
import type { Command, Field, Operand, Pipeline } from './tree.ts';

/** Blocks and parentheses may be nested this deep. */
export const MOST_NESTED = 100;

const KEYWORDS = new Set('if else end range with define template block break continue'.split(' '));
const WORD_CONSTANTS: ReadonlyMap<string, TemplateValue> = new Map<string, TemplateValue>([
  ['true', true],
  ['false', false],
  ['nil', null],
]);

export interface Unknown {
  readonly name: string;
  readonly at: number;
}

/** How a declaration begins: `$x :=`, `$x =`. */
interface Declaration {
  readonly name: string;
  readonly at: number;
  readonly isNew: boolean;
}

export class PipelineParser {
  readonly #tokens: TokenStream;
  readonly #isFunction: (name: string) => boolean;
  /** Set by whoever begins another template. */
  scope: Scope;
  /** Blocks and parentheses that are open. */
  depth = 0;
  unknown: Unknown | null = null;

  constructor(tokens: TokenStream, isFunction: (name: string) => boolean, scope: Scope) {
    this.#tokens = tokens;
    this.#isFunction = isFunction;
    this.scope = scope;
  }

  /** A pipeline with the `}}` or `)` behind it. */
  pipeline(end: 'close' | 'group'): Pipeline {
    const at = this.#tokens.peekSolid().at;
    const declaration = this.#declaration();
    const commands = this.#commands(end);
    return { slot: declaration && this.slotOf(declaration), commands, at };
  }

  /** What a range goes through, with the variables that it declares or assigns to. */
  rangeHead(): { readonly variables: readonly number[]; readonly pipeline: Pipeline } {
    const declarations = this.#rangeVariables();
    const at = this.#tokens.peekSolid().at;
    const pipeline = { slot: null, commands: this.#commands('close'), at };
    return { variables: declarations.map((declaration) => this.slotOf(declaration)), pipeline };
  }

  /** The slot that a declaration makes or assigns to; known only once its value was parsed. */
  slotOf({ name, at, isNew }: Declaration): number {
    if (isNew) return this.scope.declare(name);
    return this.#found(name, at);
  }

  enter(at: number): void {
    if (++this.depth > MOST_NESTED) throw new TemplateFailure(`nested deeper than ${MOST_NESTED}`, at);
  }

  leave(): void {
    this.depth--;
  }

  #declaration(): Declaration | null {
    const token = this.#tokens.peekSolid();
    if (token.kind !== 'variable') return null;
    const skipped = this.#tokens.peek(1).kind === 'space' ? 2 : 1;
    const sign = this.#tokens.peek(skipped);
    if (sign.kind !== 'mark' || (sign.text !== ':=' && sign.text !== '=')) return null;
    for (let taken = 0; taken <= skipped; taken++) this.#tokens.next();
    return { name: token.name, at: token.at, isNew: sign.text === ':=' };
  }

  #rangeVariables(): Declaration[] {
    const first = this.#tokens.peekSolid();
    const skipped = this.#tokens.peek(1).kind === 'space' ? 2 : 1;
    const comma = this.#tokens.peek(skipped);
    const one = this.#declaration();
    if (one) return [one];
    if (first.kind !== 'variable' || comma.kind !== 'mark' || comma.text !== ',') return [];
    for (let taken = 0; taken <= skipped; taken++) this.#tokens.next();
    const second = this.#declaration();
    if (!second) throw unexpected(this.#tokens.peekSolid());
    return [{ name: first.name, at: first.at, isNew: second.isNew }, second];
  }

  #commands(end: 'close' | 'group'): Command[] {
    const commands: Command[] = [];
    for (;;) {
      const command = this.#command(commands.length > 0);
      commands.push(command);
      const token = this.#tokens.next();
      if (token.kind === 'mark' && token.text === '|') continue;
      const ends = end === 'close' ? token.kind === 'close' : token.kind === 'mark' && token.text === ')';
      if (!ends) throw unexpected(token);
      return commands;
    }
  }

  /** One command, up to the token that ends it. */
  #command(isPiped: boolean): Command {
    const start = this.#tokens.peekSolid();
    const first = this.#operand();
    if (!first) throw missing(start);
    const command: [Operand, ...Operand[]] = [first];
    const callable = first.kind === 'function' || first.kind === 'chain';
    if (isPiped && !callable) throw unexpected(start);
    while (this.#tokens.peek().kind === 'space') {
      const token = this.#tokens.peekSolid();
      const operand = this.#operand();
      if (!operand) break;
      if (!callable) throw unexpected(token);
      command.push(operand);
    }
    const isNil = first.kind === 'constant' && first.value === null;
    if (isNil) throw unexpected(start);
    return command;
  }

  /** A term with the fields that follow it directly; null when something else comes. */
  #operand(): Operand | null {
    const start = this.#tokens.peek();
    // A field with nothing before it reads the dot, which then is no token of its own.
    const readsDot = start.kind === 'field' && start.name !== '';
    const term = readsDot ? ({ kind: 'dot', at: start.at } as const) : this.#term();
    if (!term) return null;
    const takesFields = readsDot || (term.kind !== 'constant' && term.kind !== 'dot');
    const fields: Field[] = [];
    for (let next = this.#tokens.peek(); next.kind === 'field'; next = this.#tokens.peek()) {
      if (!takesFields || next.name === '') throw unexpected(next);
      fields.push({ name: next.name, at: next.at });
      this.#tokens.next();
    }
    const [first, ...rest] = fields;
    return first ? { kind: 'chain', base: term, fields: [first, ...rest], at: term.at } : term;
  }

  #term(): Operand | null {
    const token = this.#tokens.peek();
    const term = this.#simpleTerm(token);
    if (term) this.#tokens.next();
    if (term || token.kind !== 'mark' || token.text !== '(') return term;
    this.#tokens.next();
    this.enter(token.at);
    const pipeline = this.pipeline('group');
    this.leave();
    return { kind: 'group', pipeline, at: token.at };
  }

  #simpleTerm(token: Token): Operand | null {
    const { at } = token;
    if (token.kind === 'field') return { kind: 'dot', at };
    if (token.kind === 'variable') return { kind: 'variable', slot: this.#found(token.name, at), at };
    if (token.kind === 'string') return { kind: 'constant', value: new Trusted(token.value), at };
    if (token.kind === 'rune') return { kind: 'constant', value: token.value, at };
    if (token.kind === 'number') return { kind: 'constant', value: numberOf(token.text, at), at };
    return token.kind === 'word' ? this.#word(token.text, token) : null;
  }

  #word(name: string, token: Token): Operand {
    const constant = WORD_CONSTANTS.get(name);
    if (constant !== undefined) return { kind: 'constant', value: constant, at: token.at };
    if (KEYWORDS.has(name)) throw unexpected(token);
    if (!this.#isFunction(name)) this.unknown ??= { name, at: token.at };
    return { kind: 'function', name, at: token.at };
  }

  #found(name: string, at: number): number {
    const slot = this.scope.find(name);
    if (slot === null) throw new TemplateFailure(`variable ${name} is not defined`, at);
    return slot;
  }
}

function missing(token: Token): TemplateFailure {
  const closes = token.kind === 'close' || (token.kind === 'mark' && /[|)]/.test(token.text));
  return closes ? new TemplateFailure('missing value', token.at) : unexpected(token);
}

/** The variables of one template call while it is parsed; each has a slot, so that nobody searches names later. */
export class Scope {
  readonly #names: string[] = ['$'];
  #slots = 1;

  /** Slots that are needed at once. */
  get slots(): number {
    return this.#slots;
  }

  declare(name: string): number {
    this.#slots = Math.max(this.#slots, this.#names.push(name));
    return this.#names.length - 1;
  }

  /** The latest variable of that name; null when there is none. */
  find(name: string): number | null {
    const slot = this.#names.lastIndexOf(name);
    return slot < 0 ? null : slot;
  }

  mark(): number {
    return this.#names.length;
  }

  /** Forgets what was declared since the mark. */
  release(mark: number): void {
    this.#names.length = mark;
  }
}
