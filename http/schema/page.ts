/** Cursor pagination: what lists take and give. The codec binds a cursor to its list, sort and filters. */
import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { refuse } from '../problem.ts';
import * as d from './described.ts';
import { wholeNumber } from './fields.ts';

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 500;

/** Query fields of every paged list; spread into the operation's own query object. */
export const pageQuery = {
  cursor: d.optionalText(
    'Where to go on: the `next_cursor` of the page before, with the same filters and sort.',
  ),
  limit: v.optional(
    d.described(
      wholeNumber(1, MAX_LIMIT, { default: DEFAULT_LIMIT }),
      'Most items of a page. It may hold fewer and still not be the last.',
    ),
  ),
};

/** Whether an operation is a list that is read page by page. */
export function isPaged(query: object | undefined): boolean {
  return (
    query !== undefined &&
    'entries' in query &&
    Object.values(query.entries as object).includes(pageQuery.cursor)
  );
}

/** Longest header `Link`, in characters: what is in front of a service takes few kilobytes of headers. */
const LONGEST_LINK = 2_048;

/**
 * The header `Link` of a page: the same request for the next one (RFC 8288, api §1.5). Null on the last page, and where it
 * would be longer than 2,048 characters.
 * @param target path and query of the request, as sent
 */
export function nextLink(
  target: { readonly path: string; readonly query: string },
  body: unknown,
): string | null {
  const cursor = body !== null && typeof body === 'object' && 'next_cursor' in body ? body.next_cursor : null;
  if (typeof cursor !== 'string') return null;
  const query = new URLSearchParams(target.query);
  query.set('cursor', cursor);
  const path = target.path.replace(/[^!-~]|[<>"]/g, encodeURIComponent);
  const link = `<${path}?${query}>; rel="next"`;
  return link.length <= LONGEST_LINK ? link : null;
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
