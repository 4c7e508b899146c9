import { expect, test } from 'vitest';
import { durationText, fullTime, shortTime } from './texts.ts';

const at = (iso: string) => Date.parse(iso) * 1_000;

test.each([
  ['2026-10-04T14:05:59Z', 'UTC', '2026-10-04 14:05 UTC'],
  ['2026-10-04T16:00:00Z', 'Europe/Berlin', '2026-10-04 18:00 UTC+02:00'],
  ['2026-12-31T23:30:00Z', 'Europe/Berlin', '2027-01-01 00:30 UTC+01:00'],
  ['2026-10-04T16:00:00Z', 'Asia/Kolkata', '2026-10-04 21:30 UTC+05:30'],
  ['2026-01-04T01:00:00Z', 'America/St_Johns', '2026-01-03 21:30 UTC-03:30'],
  ['2026-01-04T01:00:00Z', 'Europe/London', '2026-01-04 01:00 UTC'],
])('%s in %s is %s', (iso, zone, expected) => {
  expect(fullTime(at(iso), zone)).toBe(expected);
  expect(shortTime(at(iso), zone)).toBe(expected.slice(11, 16));
});

test.each([
  [86_400, '1 d', '1 д'],
  [5_400, '90 min', '90 мин'],
  [14_400, '4 h', '4 ч'],
  [45, '45 s', '45 с'],
  [31_536_000, '365 d', '365 д'],
])('%i seconds', (seconds, english, russian) => {
  expect(durationText(seconds, 'en')).toBe(english);
  expect(durationText(seconds, 'ru')).toBe(russian);
});
