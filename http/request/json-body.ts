/** JSON bodies as they are read, and what valibot found in them as field errors of the API. */
import type * as v from 'valibot';
import {
  cutText,
  FIELD_ERROR_LIMIT,
  FIELD_ERRORS,
  type FieldError,
  type FieldErrorCode,
  POINTER_LIMIT,
} from '../problem.ts';
import type { Schema } from '../schema/described.ts';

type Issue = v.BaseIssue<unknown>;

/** How often a validation meets an issue, on any level, before it stops looking for more. */
const ISSUE_LIMIT = 20 * FIELD_ERROR_LIMIT;

export type Parsed =
  | { readonly success: true; readonly output: unknown }
  | { readonly success: false; readonly issues: readonly Issue[] };

/**
 * Validates like valibot's `safeParse`, and stops early once it has met enough issues: a body of 1 MiB can hold half a
 * million. What is valid is found valid however many issues the rejected options of a union had.
 */
export function parseBounded(schema: Schema, value: unknown): Parsed {
  const { typed, issues, value: output } = schema['~run']({ value }, stopsWhenEnough());
  return typed && !issues ? { success: true, output } : { success: false, issues: issues ?? [] };
}

/** valibot reads `abortEarly` on each level that an issue passes through. */
function stopsWhenEnough(): v.Config<Issue> {
  let met = 0;
  return {
    get abortEarly() {
      met += 1;
      return met > ISSUE_LIMIT;
    },
  };
}

/**
 * One error per failing field, in the order found; no more than an answer names.
 * @param base pointer of the value that was validated
 * @param known errors found before; their fields are not told twice
 */
export function fieldErrors(
  issues: readonly Issue[],
  base: string,
  known: readonly FieldError[] = [],
): readonly FieldError[] {
  const told = new Set(known.map((error) => error.pointer));
  const errors: FieldError[] = [];
  for (const issue of issues) {
    const pointer = pointerOf(issue, base);
    if (told.has(pointer)) continue;
    if (told.size >= FIELD_ERROR_LIMIT) break;
    told.add(pointer);
    const { code, detail } = toldBy(issue) ?? { code: codeOf(issue), detail: null };
    errors.push({ pointer, code, detail: detail ?? detailOf(code, issue) });
  }
  return errors;
}

function pointerOf(issue: Issue, base: string): string {
  return (issue.path ?? []).reduce((pointer, { key }) => pointerInto(pointer, String(key)), base);
}

const CODES: ReadonlySet<string> = new Set(Object.keys(FIELD_ERRORS));

/** The message of a check that knows better than its kind what is wrong. */
export function issueMessage(code: FieldErrorCode, detail: string): string {
  return `${code}: ${detail}`;
}

/** What a message is that begins with a code: the code, and the sentence behind it if there is one. */
function toldBy({
  message,
}: Issue): { readonly code: FieldErrorCode; readonly detail: string | null } | null {
  const [first = '', ...rest] = message.split(': ');
  if (!CODES.has(first)) return null;
  return { code: first as FieldErrorCode, detail: rest.length > 0 ? rest.join(': ') : null };
}

/** The kind of the failed check decides. */
function codeOf(issue: Issue): FieldErrorCode {
  if (issue.kind === 'schema') return issue.received === 'undefined' ? 'required' : 'invalid_format';
  return CODE_OF_CHECK[issue.type] ?? 'invalid_format';
}

const CODE_OF_CHECK: Readonly<Record<string, FieldErrorCode>> = {
  non_empty: 'too_short',
  min_length: 'too_short',
  min_bytes: 'too_short',
  min_graphemes: 'too_short',
  min_size: 'too_short',
  min_entries: 'too_short',
  max_length: 'too_long',
  max_bytes: 'too_long',
  max_graphemes: 'too_long',
  max_size: 'too_long',
  max_entries: 'too_long',
  min_value: 'out_of_range',
  max_value: 'out_of_range',
  gt_value: 'out_of_range',
  lt_value: 'out_of_range',
  safe_integer: 'out_of_range',
};

/** Never repeats the value that was sent. */
function detailOf(code: FieldErrorCode, issue: Issue): string {
  const bound = typeof issue.requirement === 'number' ? issue.requirement : null;
  switch (code) {
    case 'required':
      return 'This field is needed.';
    case 'too_short':
      return bound === null ? 'This is too short.' : `This needs at least ${bound}.`;
    case 'too_long':
      return bound === null ? 'This is too long.' : `This takes at most ${bound}.`;
    case 'out_of_range':
      return bound === null ? 'This is out of range.' : `This is out of range; the bound is ${bound}.`;
    case 'duplicate':
      return 'This is given twice.';
    default:
      return 'This does not have the expected form.';
  }
}

/** Reads a JSON body: one object, UTF-8, not too deep, every string such as can be stored (api §1.2). */
const MAX_DEPTH = 64;

/** @param optional an empty body counts as `{}` */
export function readJson(
  contentType: string | null,
  bytes: Buffer,
  optional: boolean,
): { readonly value: object } | { readonly error: FieldError } {
  if (bytes.length === 0) {
    return optional ? { value: {} } : whole('required', 'Send a JSON object.');
  }
  if (mediaType(contentType) !== 'application/json') {
    return whole('unsupported', 'Send the body as application/json.');
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    // Both bad UTF-8 and bad JSON are the sender's to mend; the parser's words would repeat the input.
    return whole('invalid_format', 'The body is not JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return whole('invalid_format', 'Send one JSON object.');
  }
  return { value };
}

function mediaType(header: string | null): string | null {
  return header === null ? null : (header.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function whole(code: FieldError['code'], detail: string): { readonly error: FieldError } {
  return { error: { pointer: '', code, detail } };
}

/** What is wrong with a body whatever the operation; stops at the errors that an answer names. */
export function bodyFaults(body: object): readonly FieldError[] {
  const faults: FieldError[] = [];
  const end = walk(body, '', 1, faults);
  return end === 'too_deep' ? [tooDeep()] : faults;
}

/** @returns why the walk ended early: a value that lies too deep, or enough faults; null when it did not */
function walk(
  value: unknown,
  pointer: string,
  depth: number,
  faults: FieldError[],
): 'too_deep' | 'enough' | null {
  if (typeof value === 'string') faults.push(...textFaults(value, pointer));
  if (faults.length >= FIELD_ERROR_LIMIT) return 'enough';
  if (typeof value !== 'object' || value === null) return null;
  if (depth > MAX_DEPTH) return 'too_deep';
  for (const [key, inner] of fieldsOf(value)) {
    faults.push(...textFaults(key, pointer));
    if (!isWalked(inner)) continue;
    const end = walk(inner, pointerInto(pointer, key), depth + 1, faults);
    if (end) return end;
  }
  return null;
}

/** One field after the other: `Object.entries` of a long array would make all its pairs first. */
function* fieldsOf(value: object): Iterable<readonly [key: string, inner: unknown]> {
  if (Array.isArray(value)) for (const [index, inner] of value.entries()) yield [String(index), inner];
  else for (const key of Object.keys(value)) yield [key, value[key as keyof typeof value]];
}

function isWalked(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

/** Half a character: JSON can escape it, UTF-8 and the database cannot hold it. */
const UNPAIRED_SURROGATE = /\p{Surrogate}/u;

function textFaults(text: string, pointer: string): readonly FieldError[] {
  const code = 'invalid_format';
  if (text.includes('\0')) return [{ pointer, code, detail: 'U+0000 is not allowed.' }];
  if (!UNPAIRED_SURROGATE.test(text)) return [];
  return [{ pointer, code, detail: 'Half a surrogate pair is no character. Send both halves, or neither.' }];
}

function tooDeep(): FieldError {
  return {
    pointer: '',
    code: 'invalid_format',
    detail: `The body is nested deeper than ${MAX_DEPTH} levels.`,
  };
}

/** The pointer (RFC 6901) of a field inside the value at `pointer`, cut to what an answer may hold. */
export function pointerInto(pointer: string, key: string): string {
  const token = key.slice(0, POINTER_LIMIT).replaceAll('~', '~0').replaceAll('/', '~1');
  return cutText(`${pointer}/${token}`, POINTER_LIMIT);
}
