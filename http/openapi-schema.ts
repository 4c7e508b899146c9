/** Schemas of the operation table as JSON Schema. */
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { Schema } from './operation.ts';
import { entriesOf, takesMany } from './validate.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a request body must look like; rules that JSON Schema cannot say are left to the 400 that names them. */
export function bodySchema(schema: Schema): Json {
  return converted(schema, 'input');
}

export function answerSchema(schema: Schema): Json {
  return converted(schema, 'output');
}

/** One parameter per field of a query schema. */
export function queryParameters(schema: Schema): readonly Json[] {
  return Object.entries(entriesOf(schema)).map(([name, field]) => ({
    name,
    in: 'query',
    required: !accepts(field),
    schema: converted(field, 'input'),
    ...(takesMany(field) ? { explode: true, style: 'form' } : {}),
  }));
}

function accepts(field: Schema): boolean {
  return field.type === 'optional' || field.type === 'nullish' || v.is(field, undefined);
}

function converted(schema: Schema, typeMode: 'input' | 'output'): Json {
  const { $schema, ...rest } = toJsonSchema(schema as v.GenericSchema, {
    typeMode,
    target: 'draft-2020-12',
    errorMode: 'ignore',
  });
  return rest as Json;
}
