import { expect, test } from 'vitest';
import { expiresAt } from './expiry.ts';

const NOW = Date.parse('2026-10-03T09:41:07Z');

test.each([
  ['30', '', '2026-11-02T09:41:07.000Z'],
  ['365', '', '2027-10-03T09:41:07.000Z'],
  ['never', '2026-12-01', null],
  ['date', '2026-12-01', '2026-11-30T23:00:00.000Z'],
  ['date', '', 'invalid'],
] as const)('%s with the date %j ends at %s', (expiry, date, at) => {
  expect(expiresAt(expiry, date, NOW, 'Europe/Berlin')).toBe(at);
});
