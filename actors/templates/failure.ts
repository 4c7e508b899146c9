/** A mistake at an offset of the source; it never leaves this folder. */
import type { TemplateError } from './types.ts';

export class TemplateFailure extends Error {
  override readonly name = 'TemplateFailure';
  readonly code: TemplateError['code'];
  readonly offset: number;

  constructor(message: string, offset: number, code: TemplateError['code'] = 'template_syntax') {
    super(message);
    this.code = code;
    this.offset = offset;
  }

  at(source: string): TemplateError {
    return { code: this.code, message: this.message, ...positionIn(source, this.offset) };
  }
}

/** 1-based; the column in code points. */
export function positionIn(source: string, offset: number): Pick<TemplateError, 'line' | 'column'> {
  const lines = source.slice(0, offset).split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

/**
 * Where the error belongs: `function`: its name prefixes the message; `action`: the whole action; `name`: no such function
 * exists here.
 */
export type About = 'function' | 'action' | 'name';

/** An error of a function or method, thrown where the position in the source is not known yet. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly about: About;

  constructor(message: string, about: About = 'function') {
    super(message);
    this.about = about;
  }
}

export const MOST_CHARACTERS = 50_000;
export const MOST_ITEMS = 10_000;
export const MOST_BYTES = 200_000;
export const MOST_NESTED_VALUES = 100;
/** Items that a function may make from a number. */
export const MOST_COUNTED = 1_000;

export function countedTooFar(): Refusal {
  return new Refusal(`more than ${MOST_COUNTED} items`, 'action');
}

export function tooLong(): Refusal {
  return new Refusal(`result is longer than ${MOST_CHARACTERS} characters`);
}
