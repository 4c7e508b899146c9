/** Judges a request's shape: everything that is 400 is found here, all of it together (api §1.8). */
import * as v from 'valibot';
import { hasPrefix, type IdPrefix, type PublicId, parsePublicId } from '../../runtime/public-id.ts';
import type { Operation } from '../operation.ts';
import { FIELD_ERROR_LIMIT, type FieldError } from '../problem.ts';
import type { Schema } from '../schema/described.ts';
import { bodyFaults, fieldErrors, parseBounded, pointerInto, readJson } from './json-body.ts';

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
  const unreadable = unreadableNames(text);
  const fields: Record<string, string | string[]> = {};
  const errors: FieldError[] = [];
  for (const [name, entry] of Object.entries(entriesOf(schema))) {
    const values = given.getAll(name);
    const fault = unreadable.has(name) ? unreadableFault(name) : queryFault(name, values, takesMany(entry));
    if (fault && !takesAnyQuery) errors.push(fault);
    if (fault || values.length === 0) continue;
    if (takesMany(entry)) fields[name] = values;
    else if (!(MEANS_NOTHING_WHEN_EMPTY.has(name) && values[0] === '')) fields[name] = values[0] ?? '';
  }
  const parsed = parseBounded(schema, fields);
  if (parsed.success) return { value: parsed.output, errors };
  return { value: undefined, errors: [...errors, ...fieldErrors(parsed.issues, '/query', errors)] };
}

/** Parameters with a stray percent sign, or with bytes that are no UTF-8: `URLSearchParams` would guess. */
function unreadableNames(text: string): ReadonlySet<string> {
  if (!text.includes('%')) return new Set();
  return new Set(
    text.split('&').flatMap((pair) => {
      try {
        decodeURIComponent(pair);
        return [];
      } catch {
        return [...new URLSearchParams(pair).keys()];
      }
    }),
  );
}

function unreadableFault(name: string): FieldError {
  return {
    pointer: `/query/${name}`,
    code: 'invalid_format',
    detail: 'This is not percent-encoded UTF-8: write a percent sign as %25.',
  };
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
  return validateBody(schema, read.value);
}

/** Whether a query field repeats: its schema, wrappers aside, is an array. */
export function takesMany(schema: Schema): boolean {
  if (schema.type === 'array') return true;
  return 'wrapped' in schema && takesMany(schema.wrapped as Schema);
}

/** Values that the second walk looks at; what is wrong behind them is named once these are mended. */
const WALK_LIMIT = 10_000;

export type ValidatedBody =
  | { readonly value: unknown; readonly errors: readonly [] }
  | { readonly value: undefined; readonly errors: readonly FieldError[] };

/**
 * @param schema checks piped after an object see bodies that have failing fields, too, so they must bear any JSON
 * @returns the parsed body, or one error for each failing field: first valibot's own, then those below and beside them
 */
function validateBody(schema: Schema, body: object): ValidatedBody {
  const other = [...bodyFaults(body), ...listFaults(schema, body, '')];
  const parsed = parseBounded(schema, body);
  if (parsed.success && other.length === 0) return { value: parsed.output, errors: [] };
  const errors = new Map<string, FieldError>();
  for (const error of faultsOf(schema, body, other)) {
    if (errors.size >= FIELD_ERROR_LIMIT) break;
    if (!errors.has(error.pointer)) errors.set(error.pointer, error);
  }
  return { value: undefined, errors: [...errors.values()] };
}

/** Lists in place of objects: valibot takes one where no field is needed. */
function* listFaults(schema: Schema, value: unknown, pointer: string): Generator<FieldError> {
  if ('wrapped' in schema) yield* listFaults(schema.wrapped as Schema, value, pointer);
  if ('entries' in schema && Array.isArray(value)) {
    yield { pointer, code: 'invalid_format', detail: 'This takes an object.' };
  }
  if (!isObject(value)) return;
  for (const [key, entry] of Object.entries(entriesOf(chosenOf(schema, value) ?? schema))) {
    yield* listFaults(entry, value[key], pointerInto(pointer, key));
  }
}

function* faultsOf(schema: Schema, body: object, other: readonly FieldError[]): Generator<FieldError> {
  yield* other;
  yield* ownFaults(schema, body, '');
  yield* everyFault({ left: WALK_LIMIT }, schema, body, '');
}

/** How many values may still be looked at. */
interface Walk {
  left: number;
}

function* everyFault(walk: Walk, schema: Schema, value: unknown, pointer: string): Generator<FieldError> {
  if (--walk.left < 0) return;
  if ('wrapped' in schema) {
    if (!v.is(schema, value)) yield* everyFault(walk, schema.wrapped as Schema, value, pointer);
  } else if (schema.type === 'variant') {
    yield* variantFaults(walk, schema, value, pointer);
  } else if ('entries' in schema) {
    // Below a missing object its required fields are named, too.
    if (!isObject(value)) yield* ownFaults(schema, value, pointer);
    if (value === undefined || isObject(value)) yield* objectFaults(walk, schema, value ?? {}, pointer);
  } else if ('item' in schema && Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (walk.left <= 0) break;
      yield* everyFault(walk, schema.item as Schema, item, pointerInto(pointer, String(index)));
    }
    yield* checkFaults(schema, value, pointer);
  } else {
    yield* ownFaults(schema, value, pointer);
  }
}

function* objectFaults(
  walk: Walk,
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
) {
  const entries = entriesOf(schema);
  yield* entryFaults(walk, entries, value, pointer);
  if (schema.type === 'strict_object') {
    for (const key of Object.keys(value).filter((name) => !Object.hasOwn(entries, name))) {
      const detail = 'There is no such field here.';
      yield { pointer: pointerInto(pointer, key), code: 'invalid_format', detail } as const;
    }
  }
  yield* checkFaults(schema, value, pointer);
}

function* entryFaults(
  walk: Walk,
  entries: Readonly<Record<string, Schema>>,
  value: Readonly<Record<string, unknown>>,
  pointer: string,
): Generator<FieldError> {
  for (const [key, entry] of Object.entries(entries)) {
    yield* everyFault(walk, entry, value[key], pointerInto(pointer, key));
  }
}

/** Without a known discriminator only the fields that every option has alike are judged. */
function* variantFaults(walk: Walk, schema: Schema, value: unknown, pointer: string): Generator<FieldError> {
  const given = isObject(value) ? value : {};
  const chosen = chosenOf(schema, given);
  if (chosen) return yield* everyFault(walk, chosen, value, pointer);
  yield* ownFaults(schema, value, pointer);
  const [first = {}, ...rest] = optionsOf(schema).map(entriesOf);
  const shared = Object.entries(first).filter(([name, entry]) =>
    rest.every((other) => other[name] === entry),
  );
  yield* entryFaults(walk, Object.fromEntries(shared), given, pointer);
}

/** Schemas to choose from; those of a list of words are texts. */
const optionsOf = (schema: Schema) =>
  schema.type === 'variant' && 'options' in schema ? (schema.options as readonly Schema[]) : [];

/** The option that the discriminator names. */
function chosenOf(schema: Schema, value: Readonly<Record<string, unknown>>): Schema | undefined {
  const key = 'key' in schema ? String(schema.key) : '';
  return optionsOf(schema).find((option) => v.is(entriesOf(option)[key] ?? v.never(), value[key]));
}

/** What valibot says of this value alone. */
function ownFaults(schema: Schema, value: unknown, pointer: string): readonly FieldError[] {
  const parsed = parseBounded(schema, value);
  return parsed.success ? [] : fieldErrors(parsed.issues, pointer);
}

/** The checks that follow an object or a list in its pipe, although parts of it fail. */
function checkFaults(schema: Schema, value: unknown, pointer: string): readonly FieldError[] {
  return checksOf(schema).flatMap((check) => ownFaults(v.pipe(v.unknown(), check), value, pointer));
}

type Action = v.PipeItem<unknown, unknown, v.BaseIssue<unknown>>;

/** A pipe may begin with a pipe. */
function checksOf(schema: object): readonly Action[] {
  if (!('pipe' in schema)) return [];
  const [first, ...actions] = schema.pipe as readonly Action[];
  return [...(first ? checksOf(first) : []), ...actions.filter(({ kind }) => kind === 'validation')];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of an object schema, whatever checks were piped after it. */
export function entriesOf(schema: Schema): Readonly<Record<string, Schema>> {
  return 'entries' in schema ? (schema.entries as Readonly<Record<string, Schema>>) : {};
}
