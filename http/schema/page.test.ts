import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor, nextLink } from './page.ts';

const LIST = 'groups';
const FILTERS = { status: ['firing'] };
const KEY = [1_790_000_000_000_000, 'AG0000000000A1', null] as const;

/** A cursor with the first part of a real one and another key. */
function forged(...key: readonly unknown[]): string {
  const [print] = JSON.parse(Buffer.from(encodeCursor(LIST, FILTERS, KEY), 'base64url').toString());
  return Buffer.from(JSON.stringify([print, ...key])).toString('base64url');
}

test('a cursor leads back to its key, in its own list with its own filters only', () => {
  const cursor = encodeCursor(LIST, FILTERS, KEY);
  expect(decodeCursor(LIST, FILTERS, cursor)).toEqual(KEY);
  expect(decodeCursor('others', FILTERS, cursor)).toBeNull();
  expect(decodeCursor(LIST, {}, cursor)).toBeNull();
});

test.each([
  ['text for a number', ['x', 'AG0000000000A1', null]],
  ['a number for text', [1, 2, null]],
  ['a value for none', [1, 'AG0000000000A1', 3]],
  ['fewer parts', [1, 'AG0000000000A1']],
  ['more parts', [...KEY, 1]],
  ['a number beyond every column', [1e300, 'AG0000000000A1', null]],
  ['a fraction', [1.5, 'AG0000000000A1', null]],
  ['a character that no text column holds', [1, '\0', null]],
  ['half a surrogate pair', [1, '\ud800', null]],
  ['a list', [[1], 'AG0000000000A1', null]],
])('a forged cursor is refused: %s', (_, key) => {
  expect(decodeCursor(LIST, FILTERS, forged(...key))).toBeNull();
});

test.each(['', 'x', '%%%', Buffer.from('{}').toString('base64url')])('%j is no cursor', (cursor) => {
  expect(decodeCursor(LIST, FILTERS, cursor)).toBeNull();
});

const HERE = '/api/v1/alert-groups';

test.each([
  ['without a query', '', `<${HERE}?cursor=c1>; rel="next"`],
  [
    'its filters stay',
    'status=firing&status=snoozed&limit=2',
    `<${HERE}?status=firing&status=snoozed&limit=2&cursor=c1>; rel="next"`,
  ],
  ['the cursor before gives way', 'cursor=c0&q=a%26b%3E', `<${HERE}?cursor=c1&q=a%26b%3E>; rel="next"`],
])('the next page: %s', (_, query, link) => {
  expect(nextLink({ path: HERE, query }, { items: [], next_cursor: 'c1' })).toBe(link);
});

test('nothing of the request ends the link or the header', () => {
  const link = nextLink({ path: '/api/v1/x>; rel="prev"\u00e9', query: 'q=>\r\n"' }, { next_cursor: 'c1' });
  expect(link).toBe('</api/v1/x%3E;%20rel=%22prev%22%C3%A9?q=%3E%0D%0A%22&cursor=c1>; rel="next"');
});

test.each([
  ['on the last page', '', { next_cursor: null }],
  ['where it would be too long', `q=${'x'.repeat(2_048)}`, { next_cursor: 'c1' }],
  ['for anything that is no page', '', undefined],
])('there is no link %s', (_, query, body) => {
  expect(nextLink({ path: HERE, query }, body)).toBeNull();
});
