/** Regular expressions that people type: RE2 syntax on an engine whose time is linear in the input (routes §1.1). */
import { RE2JS } from 're2js';
import { shortcut } from './regex-shortcut.ts';

/**
 * Bound of the compiled program. The engine holds up to some 800 bytes for an instruction (the program, its queues
 * and a state of its automaton), so this keeps an expression within 8 MiB and its slowest match over 4,096
 * characters below a second.
 */
const MAX_INSTRUCTIONS = 10_000;

export type Regex =
  | { readonly ok: true; readonly matches: (value: string) => boolean }
  /** `message` is the engine's own. */
  | { readonly ok: false; readonly message: string };

/** Compiles an expression that must match a whole value. */
export function compileRegex(expression: string): Regex {
  // By itself first: `a)|(b` would turn into something else between the anchors.
  const alone = compile(expression);
  if (typeof alone === 'string') return { ok: false, message: alone };
  const anchored = compile(`^(?:${expression})$`);
  if (typeof anchored === 'string') return { ok: false, message: anchored };
  return { ok: true, matches: shortcut(expression) ?? ((value) => anchored.testExact(value)) };
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
