import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  formatAge,
  formatAhead,
  formatDuration,
  formatExact,
  formatSince,
  formatTooltip,
  inText,
  timesIn,
} from './format.ts';

/** No-break spaces differ between versions of the tables of languages. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe('formatDuration shows the two largest units in the words of the language', () => {
  it.each([
    [0, '0 secs', '0 с'],
    [59.9, '59 secs', '59 с'],
    [61, '1 min 1 sec', '1 мин 1 с'],
    [3_600, '1 hr', '1 ч'],
    [3_605, '1 hr', '1 ч'],
    [7_500, '2 hrs 5 mins', '2 ч 5 мин'],
    [90_000, '1 day 1 hr', '1 дн. 1 ч'],
    [-5, '0 secs', '0 с'],
  ])('%d s is %s', (seconds, english, russian) => {
    expect(plain(formatDuration(seconds, 'en-GB'))).toBe(english);
    expect(plain(formatDuration(seconds, 'ru'))).toBe(russian);
  });
});

describe('formatAge shows the largest unit', () => {
  it.each([
    [12, '12s', '12 secs', '12 с'],
    [3_599, '59m', '59 mins', '59 мин'],
    [200_000, '2d', '2 days', '2 дн.'],
  ])('%d s is %s in a row, else %s', (seconds, narrow, short, russian) => {
    expect(formatAge(seconds, 'en-GB', 'narrow')).toBe(narrow);
    expect(plain(formatAge(seconds, 'en-GB', 'short'))).toBe(short);
    expect(plain(formatAge(seconds, 'ru', 'short'))).toBe(russian);
  });
});

it.each([
  ['en-GB', 'Europe/Berlin', '21 Nov 2026, 10:00:00 CET · 2026-11-21T09:00:00.000Z'],
  ['ru', 'Asia/Kolkata', '21 нояб. 2026 г., 14:30:00 GMT+5:30 · 2026-11-21T09:00:00.000Z'],
])('formatTooltip has the exact time of the zone and RFC 3339 in %s', (locale, zone, text) => {
  expect(plain(formatTooltip(Date.UTC(2026, 10, 21, 9), locale, zone))).toBe(text);
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

describe('instants in a text', () => {
  const at = '2026-11-21T09:00:00.000Z';
  const parts = (text: string) => timesIn(text).map(({ part, isTime }) => (isTime ? `<${part}>` : part));

  it('are found where they were put', () => {
    expect(parts(`since ${inText(at)}, until ${inText(at)}`)).toEqual([
      'since ',
      `<${at}>`,
      ', until ',
      `<${at}>`,
      '',
    ]);
    expect(parts('no instant')).toEqual(['no instant']);
  });

  it.each(['\uE000 of a name', inText('2026-99-99T00:00:00Z'), inText('later')])('%j is text', (text) => {
    expect(timesIn(text).some(({ isTime }) => isTime)).toBe(false);
  });
});

it('an instant is shown by one component, and how long until it by another', () => {
  const src = path.join(import.meta.dirname, '..');
  const components = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.svelte'),
  );
  const own = components.filter((file) => readFileSync(path.join(src, file), 'utf8').includes('<time'));
  expect(own.toSorted()).toEqual(['components/Countdown.svelte', 'components/Time.svelte']);
});
