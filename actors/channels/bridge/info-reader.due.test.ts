import { expect, test } from 'vitest';
import { MINUTE, SECOND } from '../../../runtime/clock.ts';
import { type InfoAge, isInfoDue } from './info-reader.ts';

const T = 1_791_020_467_000_000;

test.each<[string, InfoAge, boolean]>([
  ['there is none', { readAt: null, failedAt: null }, true],
  ['it is young', { readAt: T - 5 * MINUTE + 1, failedAt: null }, false],
  ['it is 5 minutes old', { readAt: T - 5 * MINUTE, failedAt: null }, true],
  ['reading it failed a moment ago', { readAt: T - 9 * MINUTE, failedAt: T - 30 * SECOND + 1 }, false],
  ['reading it failed half a minute ago', { readAt: T - 9 * MINUTE, failedAt: T - 30 * SECOND }, true],
  ['the first reading failed a moment ago', { readAt: null, failedAt: T - SECOND }, false],
])('whether it is read before it is used: %s', (_name, age, expected) => {
  expect(isInfoDue(age, T)).toBe(expected);
});
