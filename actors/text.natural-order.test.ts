import { expect, test } from 'vitest';
import { naturalOrder } from './text.ts';

test.each([
  [
    ['p10', 'p2', 'p1'],
    ['p1', 'p2', 'p10'],
  ],
  [
    ['b', 'a10b', 'a9c', 'a'],
    ['a', 'a9c', 'a10b', 'b'],
  ],
  [
    ['10', '9', '09', '1e3'],
    ['1e3', '09', '9', '10'],
  ],
  [
    ['x99999999999999999999', 'x100000000000000000000'],
    ['x99999999999999999999', 'x100000000000000000000'],
  ],
  [
    ['', 'a'],
    ['', 'a'],
  ],
])('%j sorts to %j', (values, sorted) => {
  expect([...values].sort(naturalOrder)).toEqual(sorted);
});
