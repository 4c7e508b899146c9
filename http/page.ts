/** Cursor pagination: what lists take and give. The codec binds a cursor to its list, sort and filters. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { refuse } from './problem.ts';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 500;

/** Query fields of every paged list; spread into the operation's own query object. */
export const pageQuery = {
  cursor: v.optional(v.string()),
  limit: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^-?\d+$/, 'invalid_format'),
      v.transform(Number),
      v.minValue(1, 'out_of_range'),
      v.maxValue(MAX_LIMIT, 'out_of_range'),
    ),
  ),
};

export interface Page<Item> {
  readonly items: readonly Item[];
  /** Sort key of the last item when there is more, else null. */
  readonly next: readonly (string | number | null)[] | null;
}

/** Makes the opaque cursor: the list's fingerprint (name, sort, filters, kinds of the key) and the key of the last item. */
export function encodeCursor(
  list: string,
  filters: unknown,
  key: readonly (string | number | null)[],
): string {
  return Buffer.from(JSON.stringify([fingerprint(list, filters, key), ...key])).toString('base64url');
}

/** Reads a cursor back; null when it is malformed or belongs to another list, sort or filter set. */
export function decodeCursor(
  list: string,
  filters: unknown,
  cursor: string,
): readonly (string | number | null)[] | null {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(parts)) return null;
  const [print, ...key] = parts;
  return key.every(isKeyPart) && print === fingerprint(list, filters, key) ? key : null;
}

/** Whether the database can hold it: numbers of sort keys are whole, texts are well-formed. */
function isKeyPart(part: unknown): boolean {
  if (typeof part === 'string') return !/[\0\p{Surrogate}]/u.test(part);
  return part === null || Number.isSafeInteger(part);
}

/** The answer to a cursor that cannot be read or belongs elsewhere. */
export const INVALID_CURSOR = refuse({
  status: 400,
  type: 'validation-failed',
  errors: [
    {
      pointer: '/query/cursor',
      code: 'invalid_cursor',
      detail: 'This cursor is not of this list and these filters. Start again without it.',
    },
  ],
});

function fingerprint(list: string, filters: unknown, key: readonly unknown[]): string {
  const kinds = key.map((part) => (part === null ? 'null' : typeof part));
  return createHash('sha256')
    .update(list)
    .update('\0')
    .update(JSON.stringify([filters, kinds]))
    .digest('base64url')
    .slice(0, 10);
}
