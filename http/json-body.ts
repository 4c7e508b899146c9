/** Reads a JSON body: one object, UTF-8, not too deep, every string such as can be stored (api §1.2). */
import type { FieldError } from './problem.ts';

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

/** What is wrong with a body whatever the operation. */
export function bodyFaults(body: object): readonly FieldError[] {
  const faults: FieldError[] = [];
  return walk(body, '', 1, faults) ? faults : [tooDeep()];
}

/** @returns false as soon as something lies deeper than allowed */
function walk(value: unknown, pointer: string, depth: number, faults: FieldError[]): boolean {
  if (typeof value === 'string') {
    faults.push(...textFaults(value, pointer));
    return true;
  }
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  for (const [key, inner] of Object.entries(value)) {
    const inside = `${pointer}/${escapePointer(key)}`;
    faults.push(...textFaults(key, pointer));
    if (!walk(inner, inside, depth + 1, faults)) return false;
  }
  return true;
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

/** One reference token of a JSON Pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
