/**
 * The commonest regular expressions as plain string comparisons. Only forms whose meaning is beyond doubt are taken;
 * everything else stays with the engine. Property-tested against it.
 */

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
