import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from './page.ts';

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
