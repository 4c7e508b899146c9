import { describe, expect, it } from 'vitest';
import { formatAge, formatAhead, formatDuration, formatExact, formatSince } from './format.ts';

describe('formatDuration shows the two largest units', () => {
  it.each([
    [0, '0s'],
    [59.9, '59s'],
    [61, '1m 1s'],
    [3_600, '1h'],
    [3_605, '1h'],
    [7_500, '2h 5m'],
    [90_000, '1d 1h'],
    [-5, '0s'],
  ])('%d s is %s', (seconds, text) => {
    expect(formatDuration(seconds, 'en-GB').replaceAll(' ', ' ')).toBe(text);
  });
});

describe('formatAge shows the largest unit', () => {
  it.each([
    [12, '12s'],
    [3_599, '59m'],
    [200_000, '2d'],
  ])('%d s is %s', (seconds, text) => {
    expect(formatAge(seconds, 'en-GB')).toBe(text);
  });
});

it.each([
  [Date.UTC(2026, 10, 21, 22, 5), '22:05'],
  [Date.UTC(2026, 10, 20, 22, 5), '20 Nov 2026, 22:05'],
])('formatSince names the day when it is another one', (at, text) => {
  expect(formatSince(at, 'en-GB', 'UTC', Date.UTC(2026, 10, 21, 23))).toBe(text);
});

it.each([
  [Date.UTC(2026, 10, 21, 23, 30), '23:30'],
  [Date.UTC(2026, 10, 25, 9), 'Wed 09:00'],
  [Date.UTC(2026, 11, 25, 9), '25 Dec 2026'],
])('formatAhead is as short as the day allows', (at, text) => {
  expect(formatAhead(at, 'en-GB', 'UTC', Date.UTC(2026, 10, 21, 22))).toBe(text);
});

it('formatExact names the zone', () => {
  expect(formatExact(Date.UTC(2026, 10, 21, 9), 'en-GB', 'UTC')).toBe('21 Nov 2026, 09:00:00 UTC');
});
