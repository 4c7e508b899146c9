/** Regular expressions that people type: RE2 syntax on an engine whose time is linear in the input (routes §1.1). */
import { RE2JS } from 're2js';
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
