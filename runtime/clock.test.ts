import { expect, test } from 'vitest';
import { formatInstant, parseInstant, SECOND, systemClock } from './clock.ts';

test.each([
  ['1970-01-01T00:00:00Z', 0],
  ['2026-10-03T09:58:00.123456789Z', Date.UTC(2026, 9, 3, 9, 58) * 1000 + 123_456],
  ['2026-10-03t09:58:00z', Date.UTC(2026, 9, 3, 9, 58) * 1000],
  ['2026-10-03T11:58:00+02:00', Date.UTC(2026, 9, 3, 9, 58) * 1000],
  ['2026-10-03T09:58:00.5-00:30', Date.UTC(2026, 9, 3, 10, 28) * 1000 + SECOND / 2],
  ['2024-02-29T23:59:60Z', Date.UTC(2024, 2, 1) * 1000],
  ['0001-01-01T00:00:00Z', -62_135_596_800 * SECOND],
])('%s is read to the microsecond', (text, micros) => {
  expect(parseInstant(text)).toBe(micros);
});

test.each([
  ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59Z'],
  ['9999-12-31T23:59:59-14:00', '9999-12-31T23:59:59Z'],
  ['0000-01-01T00:00:00+14:00', '0000-01-01T00:00:00Z'],
])('%s stays a year of four digits', (text, written) => {
  expect(formatInstant(parseInstant(text) ?? Number.NaN)).toBe(written);
});

test.each([
  '2026-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-01-01T00:00:00+24:00',
  'yesterday',
])('%s is no RFC 3339 instant', (text) => {
  expect(parseInstant(text)).toBeNull();
});

test.each([0, 1, SECOND / 2, Date.UTC(2026, 9, 3) * 1000 + 120_000, -62_135_596_800 * SECOND])(
  'what %d is written as reads back the same',
  (micros) => {
    expect(parseInstant(formatInstant(micros))).toBe(micros);
  },
);

test('the system clock follows the wall clock to the millisecond', () => {
  const before = Date.now();
  const now = systemClock.now();
  expect(Math.abs(now / 1000 - before)).toBeLessThan(50);
});
