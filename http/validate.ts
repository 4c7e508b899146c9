/** Judges a request's shape: everything that is 400 is found here, all of it together (api §1.8). */
import * as v from 'valibot';
import { hasPrefix, type IdPrefix, type PublicId, parsePublicId } from '../runtime/public-id.ts';
import { bodyFaults, readJson } from './json-body.ts';
import type { Operation, Schema } from './operation.ts';
import type { FieldError } from './problem.ts';
import { fieldErrors } from './validate-issues.ts';

export interface RequestShape {
  readonly params: Readonly<Record<string, string | null>>;
  /** Raw text after the `?`. */
  readonly query: string;
  readonly contentType: string | null;
  readonly body: Buffer;
}

export type Validation =
  | { readonly outcome: 'invalid'; readonly errors: readonly FieldError[] }
  /** A path id of another type: nothing there. */
  | { readonly outcome: 'not_found' }
  | {
      readonly outcome: 'valid';
      readonly params: Readonly<Record<string, PublicId>>;
      readonly query: unknown;
      readonly body: unknown;
    };

/** Validates path, query and body against an operation; a body that the operation does not take is ignored. */
export function validateRequest(operation: Operation, request: RequestShape): Validation {
  if (namesNothing(operation, request.params)) return { outcome: 'not_found' };
  const params = readParams(operation, request.params);
  const query = readQuery(operation, request.query);
  const body = readBody(operation, request);
  const errors = [...params.errors, ...query.errors, ...body.errors];
  if (errors.length > 0) return { outcome: 'invalid', errors };
  if (!params.found) return { outcome: 'not_found' };
  return { outcome: 'valid', params: params.values, query: query.value, body: body.value };
}

interface Read {
  readonly value: unknown;
  readonly errors: readonly FieldError[];
}

function namesNothing({ words = {} }: Operation, raw: RequestShape['params']): boolean {
  return Object.entries(words).some(([name, known]) => !known.includes(raw[name] ?? ''));
}

function readParams(operation: Operation, raw: RequestShape['params']) {
  const values: Record<string, PublicId> = {};
  const errors: FieldError[] = [];
  let found = true;
  for (const [name, text] of Object.entries(raw)) {
    const isId = name.endsWith('_id') && operation.words?.[name] === undefined;
    const value = isId && text !== null ? parsePublicId(text) : text;
    if (value === null || value.includes('\0')) {
      errors.push({
        pointer: `/path/${name}`,
        code: 'invalid_format',
        detail: isId ? 'This is not the id of anything.' : 'This cannot be read.',
      });
      continue;
    }
    const prefix = operation.ids?.[name];
    if (prefix !== undefined && !hasPrefix(value as PublicId, prefix as IdPrefix)) found = false;
    values[name] = value as PublicId;
  }
  return { values, errors, found };
}

function readQuery({ query: schema, takesAnyQuery }: Operation, text: string): Read {
  if (!schema) return { value: undefined, errors: [] };
  const given = new URLSearchParams(text);
  const fields: Record<string, string | string[]> = {};
  const errors: FieldError[] = [];
  for (const [name, entry] of Object.entries(entriesOf(schema))) {
    const values = given.getAll(name);
    const fault = queryFault(name, values, takesMany(entry));
    if (fault && !takesAnyQuery) errors.push(fault);
    if (fault || values.length === 0) continue;
    if (takesMany(entry)) fields[name] = values;
    else if (!(MEANS_NOTHING_WHEN_EMPTY.has(name) && values[0] === '')) fields[name] = values[0] ?? '';
  }
  const parsed = v.safeParse(schema, fields);
  if (parsed.success) return { value: parsed.output, errors };
  return { value: undefined, errors: [...errors, ...fieldErrors(parsed.issues, '/query', errors)] };
}

const MEANS_NOTHING_WHEN_EMPTY: ReadonlySet<string> = new Set(['cursor', 'q']);

function queryFault(name: string, values: readonly string[], many: boolean): FieldError | null {
  const pointer = `/query/${name}`;
  if (!many && values.length > 1) {
    return { pointer, code: 'invalid_format', detail: 'Give this parameter once.' };
  }
  const nul = values.findIndex((value) => value.includes('\0'));
  if (nul < 0) return null;
  return {
    pointer: many ? `${pointer}/${nul}` : pointer,
    code: 'invalid_format',
    detail: 'U+0000 is not allowed.',
  };
}

function readBody(operation: Operation, request: RequestShape): Read {
  const { body: schema } = operation;
  if (!schema) return { value: undefined, errors: [] };
  const read = readJson(request.contentType, request.body, operation.bodyOptional === true);
  if ('error' in read) return { value: undefined, errors: [read.error] };
  const faults = bodyFaults(read.value);
  if (faults.length > 0) return { value: undefined, errors: faults };
  const parsed = v.safeParse(schema, read.value);
  if (parsed.success) return { value: parsed.output, errors: [] };
  return { value: undefined, errors: fieldErrors(parsed.issues, '') };
}

/** The fields of an object schema, whatever checks were piped after it. */
export function entriesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return 'entries' in schema ? (schema.entries as Readonly<Record<string, Schema>>) : {};
}

/** Whether a query field repeats: its schema, wrappers aside, is an array. */
export function takesMany(schema: Schema): boolean {
  if (schema.type === 'array') return true;
  return 'wrapped' in schema && takesMany(schema.wrapped as Schema);
}
