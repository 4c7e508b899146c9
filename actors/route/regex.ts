/** Regular expressions that people type: RE2 syntax on an engine whose time is linear in the input (routes §1.1). */
import { type Matcher, RE2JS } from 're2js';
import { shortcut } from './regex-shortcut.ts';

/**
 * Bound of the compiled program. The engine holds up to some 800 bytes for an instruction (the program, its queues
 * and a state of its automaton), so this keeps an expression within 8 MiB.
 */
const MAX_INSTRUCTIONS = 10_000;

/** Characters of a value that an expression looks at; a longer value is judged by how it begins. */
export const SEEN_CHARACTERS = 65_536;

/** A large expression looks at fewer: every character may take all of its instructions, some 50 ns each. */
const MOST_STEPS = 5_000_000;

export type Regex =
  | { readonly ok: true; readonly matches: (value: string) => boolean }
  /** `message` is the engine's own. */
  | { readonly ok: false; readonly message: string };

/** Compiles an expression that must match a whole value, as much of it as expressions look at. */
export function compileRegex(expression: string): Regex {
  // By itself first: `a)|(b` would turn into something else between the anchors.
  const alone = compile(expression);
  if (typeof alone === 'string') return { ok: false, message: alone };
  const anchored = compile(`^(?:${expression})$`);
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

/** An expression that is looked for inside texts, with its groups. */
export type SearchRegex =
  | {
      readonly ok: true;
      /** Instructions of the program. */
      readonly size: number;
      /** The first match that starts at `from` or behind it; null when there is none. */
      readonly exec: (text: string, from: number) => SearchMatch | null;
    }
  /** `message` is the engine's own. */
  | { readonly ok: false; readonly message: string };

export interface SearchMatch {
  readonly start: number;
  readonly end: number;
  /** Of a group by its number or name; null when there is no such group or it took no part. */
  readonly group: (name: string) => string | null;
}

/** Compiles an expression that is not anchored. */
export function compileSearch(expression: string): SearchRegex {
  const program = compile(expression);
  if (typeof program === 'string') return { ok: false, message: program };
  const exec = (text: string, from: number): SearchMatch | null => {
    const matcher = program.matcher(text);
    if (!matcher.find(from)) return null;
    return { start: matcher.start(), end: matcher.end(), group: (name) => groupOf(matcher, name) };
  };
  return { ok: true, size: program.programSize(), exec };
}

function groupOf(matcher: Matcher, name: string): string | null {
  if (!/^\d+$/.test(name)) return Object.hasOwn(matcher.namedGroups, name) ? matcher.group(name) : null;
  const number = Number(name);
  return number <= matcher.groupCount() ? matcher.group(number) : null;
}

/** The program, or why there is none. */
function compile(expression: string): RE2JS | string {
  let program: RE2JS;
  try {
    program = RE2JS.compile(expression);
  } catch (error) {
    // The engine throws for nothing but an expression it refuses.
    return error instanceof Error ? error.message : String(error);
  }
  if (program.programSize() > MAX_INSTRUCTIONS) return 'expression is too large';
  return program;
}
