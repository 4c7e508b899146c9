import { expect, it } from 'vitest';
import { beganApart } from './alert-facts.ts';

it.each([
  ['2026-10-03T10:00:00Z', null],
  ['2026-10-03T09:59:00Z', null],
  ['2026-10-03T09:58:59Z', '2026-10-03T09:58:59Z'],
  ['2026-10-03T10:01:01Z', '2026-10-03T10:01:01Z'],
  [null, null],
])('Alerts that began at %s and were received at 10:00: %s is shown', (began, shown) => {
  expect(beganApart({ started_at: '2026-10-03T10:00:00Z', alerts_started_at: began })).toBe(shown);
});
