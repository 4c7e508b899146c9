/** Periods as people type them. */
import { expect, test } from 'vitest';
import { DAY, HOUR, MINUTE } from '../clock.ts';
import { parseDuration } from './command.ts';

test.each([
  ['90m', 90 * MINUTE],
  ['12h', 12 * HOUR],
  ['3d', 3 * DAY],
  ['', null],
  ['3', null],
  ['-3d', null],
  ['1.5h', null],
  ['3D', null],
  ['3 d', null],
  ['0h', null],
])('the duration "%s"', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});
