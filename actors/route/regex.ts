/** Regular expressions that people type: RE2 syntax on an engine whose time is linear in the input (routes §1.1). */
import { RE2JS } from 're2js';

/**
 * Bound of the compiled program. The engine holds up to some 800 bytes for an instruction (the program, its queues
 * and a state of its automaton), so this keeps an expression within 8 MiB.
 */
const MAX_INSTRUCTIONS = 10_000;

/** Characters of a value that are matched; of a longer value only this prefix is. */
export const SEEN_CHARACTERS = 65_536;

/** Bound for large expressions: a character may cost one step for each instruction, some 50 ns each. */
const MOST_STEPS = 5_000_000;

export type Regex =
  | { readonly ok: true; readonly matches: (value: string) => boolean }
  /** `message` is the engine's own. */
  | { readonly ok: false; readonly message: string };

/** Compiles an expression that must match the whole value, up to {@link SEEN_CHARACTERS}. */
export function compileRegex(expression: string): Regex {
  // By itself first: `a)|(b` would turn into something else between the anchors.
  const alone = compileProgram(expression);
  if (typeof alone === 'string') return { ok: false, message: alone };
  const anchored = compileProgram(`^(?:${expression})$`);
  if (typeof anchored === 'string') return { ok: false, message: anchored };
  const test = shortcut(expression);
  if (test) return { ok: true, matches: (value) => test(seen(value, SEEN_CHARACTERS)) };
  const most = Math.min(SEEN_CHARACTERS, Math.floor(MOST_STEPS / anchored.programSize()));
  return { ok: true, matches: (value) => anchored.testExact(seen(value, most)) };
}

/** What a value begins with, no character cut in two. */
function seen(value: string, most: number): string {
  if (value.length <= most) return value;
  const isHalf = (value.charCodeAt(most - 1) & 0xfc00) === 0xd800;
  return value.slice(0, isHalf ? most - 1 : most);
}

/** The compiled program of an expression, of bounded size, or the error text. */
export function compileProgram(expression: string): RE2JS | string {
  let program: RE2JS;
  try {
    program = RE2JS.compile(expression);
  } catch (error) {
    // The engine throws only for an expression that it refuses.
    return error instanceof Error ? error.message : String(error);
  }
  if (program.programSize() > MAX_INSTRUCTIONS) return 'expression is too large';
  return program;
}

/** Characters with a meaning of their own outside a bracket expression. */
const META = new Set('\\.+*?()|[]{}^$');
const ESCAPABLE = /[!-/:-@[-^`{-~]/;
const LONE_SURROGATE = /\p{Surrogate}/u;

type Token =
  | { readonly kind: 'text'; readonly text: string }
  /** `.*` (`least` 0) or `.+` (`least` 1). */
  | { readonly kind: 'any'; readonly least: 0 | 1 };

type ValueTest = (value: string) => boolean;

/**
 * A whole-value test that answers exactly as `^(?:expression)$` would, or null when the expression is not made, joined
 * by `|`, of literals with `.*` or `.+` between them. The expression must have compiled.
 */
export function shortcut(expression: string): ValueTest | null {
  if (LONE_SURROGATE.test(expression)) return null;
  const alternatives = readAlternatives(expression);
  if (!alternatives) return null;
  const texts = new Set<string>();
  const tests: ValueTest[] = [];
  for (const tokens of alternatives) {
    const text = literal(tokens);
    const test = text === null ? (around(tokens) ?? along(tokens)) : null;
    if (text !== null) texts.add(text);
    else if (test) tests.push(test);
    else return null;
  }
  return anyOf(texts, tests);
}

function anyOf(texts: ReadonlySet<string>, tests: readonly ValueTest[]): ValueTest {
  const [only] = tests;
  if (!only) return (value) => texts.has(value);
  if (tests.length === 1 && texts.size === 0) return only;
  return (value) => texts.has(value) || tests.some((test) => test(value));
}

/** `before.*after`: the dot crosses everything but a line feed. */
function around(tokens: readonly Token[]): ValueTest | null {
  const at = tokens.findIndex((token) => token.kind === 'any');
  const any = tokens[at];
  const before = literal(tokens.slice(0, at));
  const after = literal(tokens.slice(at + 1));
  if (any?.kind !== 'any' || before === null || after === null) return null;
  const shortest = before.length + any.least + after.length;
  return (value) =>
    value.length >= shortest &&
    value.startsWith(before) &&
    value.endsWith(after) &&
    !value.slice(before.length, value.length - after.length).includes('\n');
}

/**
 * `before.*middle.*after`: each literal where it is found first, as far as the dots cross no line feed.
 * Literals with a line feed, and dots that stand side by side, are left to the engine.
 */
function along(tokens: readonly Token[]): ValueTest | null {
  const parts: string[] = [''];
  const least: number[] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'text') {
      if (token.text === '\n') return null;
      parts.push((parts.pop() ?? '') + token.text);
    } else {
      if (tokens[index - 1]?.kind === 'any') return null;
      least.push(token.least);
      parts.push('');
    }
  }
  const [before = '', ...rest] = parts;
  const after = rest.pop() ?? '';
  const [first = 0, ...others] = least;
  return (value) => {
    const end = value.length - after.length;
    if (!value.startsWith(before) || !value.endsWith(after) || value.includes('\n')) return false;
    let from = before.length + first;
    for (const [index, part] of rest.entries()) {
      const found = value.indexOf(part, from);
      if (found < 0) return false;
      from = found + part.length + (others[index] ?? 0);
    }
    return from <= end;
  };
}

function literal(tokens: readonly Token[]): string | null {
  let text = '';
  for (const token of tokens) {
    if (token.kind !== 'text') return null;
    text += token.text;
  }
  return text;
}

function readAlternatives(expression: string): Token[][] | null {
  const alternatives: Token[][] = [[]];
  for (let index = 0; index < expression.length; index++) {
    const character = expression.charAt(index);
    const next = expression.charAt(index + 1);
    if (character === '|') {
      alternatives.push([]);
      continue;
    }
    const token = readToken(character, next);
    if (!token) return null;
    if (token.kind === 'any' || character === '\\') index++;
    alternatives.at(-1)?.push(token);
  }
  return alternatives;
}

function readToken(character: string, next: string): Token | null {
  if (character === '.' && next === '*') return { kind: 'any', least: 0 };
  if (character === '.' && next === '+') return { kind: 'any', least: 1 };
  if (character === '\\') return ESCAPABLE.test(next) ? { kind: 'text', text: next } : null;
  return META.has(character) ? null : { kind: 'text', text: character };
}

/** What makes parts of an expression optional, or letters equal that are not. */
const BRANCHES = /[|(]|\\Q/;
const HALF_A_PAIR = /\p{Surrogate}/u;
const QUANTIFIERS = new Set('*?{+');
/** Between two of these, texts end; anything else that is no letter of a text ends the reading. */
const GAP = /^(?:\.|\^|\$|\\[dDsSwWbB])/;
const ESCAPED = /^\\([!-/:-@[-^`{-~])/;
const NOT_LITERAL = new Set('\\.+*?()|[]{}^$\0\ufffd');

/**
 * The longest text that is found to be in every value that the expression matches as a whole; empty when none is. The
 * expression must have compiled.
 */
export function requiredText(expression: string): string {
  if (BRANCHES.test(expression) || HALF_A_PAIR.test(expression)) return '';
  const texts: string[] = [''];
  let rest = expression;
  while (rest !== '') {
    const atom = readAtom(rest);
    if (!atom) break;
    rest = rest.slice(atom.length);
    const isRepeated = QUANTIFIERS.has(rest.charAt(0));
    if (atom.text === null || isRepeated) texts.push('');
    else texts.push((texts.pop() ?? '') + atom.text);
    rest = rest.replace(/^(?:[*?+]|\{\d+(?:,\d*)?\})+/, '');
  }
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest));
}

/** One character, as text or as a gap. Null: of unknown meaning. */
function readAtom(rest: string): { readonly length: number; readonly text: string | null } | null {
  const [gap] = GAP.exec(rest) ?? [];
  if (gap !== undefined) return { length: gap.length, text: null };
  const [escaped, text] = ESCAPED.exec(rest) ?? [];
  if (escaped !== undefined && text !== undefined) return { length: escaped.length, text };
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  return NOT_LITERAL.has(character) ? null : { length: character.length, text: character };
}
