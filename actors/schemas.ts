/** Pieces of schemas that many bodies share; the message of a failed check is its error code. */
import * as v from 'valibot';
import { codePoints } from './text.ts';

/** A whole number within bounds. */
export function integer(least: number, most: number) {
  return v.pipe(
    v.number(),
    v.integer('invalid_format'),
    v.minValue(least, 'out_of_range'),
    v.maxValue(most, 'out_of_range'),
  );
}

/** A text of at most `most` code points. */
export function text(most: number) {
  return v.pipe(
    v.string(),
    v.check((value) => codePoints(value) <= most, 'too_long'),
  );
}

/** A schema with a sentence for the API description. */
export function described<S extends v.GenericSchema<unknown, unknown>>(schema: S, text: string): S {
  return v.pipe(schema, v.description(text)) as unknown as S;
}

/** The same, as a component of the API description. */
export function named<S extends v.GenericSchema<unknown, unknown>>(
  component: string,
  schema: S,
  description: string,
): S {
  return v.pipe(schema, v.metadata({ component, description })) as unknown as S;
}
