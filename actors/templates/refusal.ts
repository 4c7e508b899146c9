/**
 * Whose error it is: that of the function, whose name then stands before the message; that of the whole action; or that
 * there is no such function after all.
 */
export type About = 'function' | 'action' | 'name';

/** What a function or a method refuses, before anyone knows where in the source it was called. */
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
/** Of what a function makes out of a number. */
export const MOST_COUNTED = 1_000;

export function countedTooFar(): Refusal {
  return new Refusal(`more than ${MOST_COUNTED} items`, 'action');
}

export function tooLong(): Refusal {
  return new Refusal(`result is longer than ${MOST_CHARACTERS} characters`);
}
