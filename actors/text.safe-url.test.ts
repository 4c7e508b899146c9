import { expect, test } from 'vitest';
import { safeUrl } from './text.ts';

test.each([
  ['https://wiki.example/a', 'https://wiki.example/a'],
  [' HTTP://wiki.example ', 'HTTP://wiki.example'],
  ['javascript:alert(1)', null],
  ['//wiki.example', null],
  ['https://user:pw@wiki.example', null],
  ['https://wiki.example/a b', null],
  ['https://wiki.example/\u200Ba', null],
  ['https://', null],
  [`https://wiki.example/${'a'.repeat(2048)}`, null],
])('safe URL: %s', (text, expected) => {
  expect(safeUrl(text)).toBe(expected);
});
