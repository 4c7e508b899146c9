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

/** The address that calls begin with; what it may hold is judged where it is saved. */
export const baseUrl = named(
  'BaseUrl',
  v.pipe(v.string(), v.metadata({ format: 'uri' })),
  'Address: http or https, without query, fragment and user name, up to 2,000 characters.',
);

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
