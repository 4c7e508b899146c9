import { expect, it } from 'vitest';
import { iconOf } from './desktop.ts';

it.each([
  [null, '/favicon-stale.svg'],
  [0, '/favicon.svg'],
])('the icon of %s is a file', (firing, expected) => {
  expect(iconOf(firing)).toBe(expected);
});

it.each([
  [1, '1'],
  [42, '42'],
  [99, '99'],
  [100, '99+'],
])('the icon of %d says %s', (firing, expected) => {
  const icon = iconOf(firing);
  expect(icon).toMatch(/^data:image\/svg\+xml,/);
  expect(decodeURIComponent(icon)).toContain(`>${expected}</text>`);
});
