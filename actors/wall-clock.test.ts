import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { HOUR, parseInstant } from '../runtime/clock.ts';
import { firstInstant, localDays, offsetAt, offsetSpans } from './wall-clock.ts';

const at = (text: string) => parseInstant(text) ?? Number.NaN;
const days = (zone: string, first: string, last: string) =>
  localDays(zone, at(first), at(last)).map(({ date, start }) => [date, start]);

test('offsets of a zone change with its clocks, within the range only', () => {
  const hours = (zone: string, first: string, last: string) =>
    offsetSpans(zone, at(first), at(last)).map(({ start, offset }) => [start, offset / HOUR]);
  const [first, last] = ['2026-03-29T00:59:59Z', '2026-10-25T01:00:00Z'];
  expect(hours('Europe/Berlin', first, last)).toEqual([
    [at(first), 1],
    [at('2026-03-29T01:00:00Z'), 2],
    [at(last), 1],
  ]);
  expect(hours('Europe/Berlin', '2026-03-29T01:00:00Z', '2026-10-25T00:59:59Z')).toEqual([
    [at('2026-03-29T01:00:00Z'), 2],
  ]);
  expect(hours('Asia/Kathmandu', first, last)).toEqual([[at(first), 5.75]]);
});

describe('dates of a zone', () => {
  test('begin at its midnights, whatever the zone of the instants', () => {
    expect(days('Asia/Kolkata', '2026-03-01T18:29:59Z', '2026-03-01T18:30:00Z')).toEqual([
      ['2026-03-01', at('2026-02-28T18:30:00Z')],
      ['2026-03-02', at('2026-03-01T18:30:00Z')],
    ]);
  });

  test('are 23 and 25 hours long when clocks change', () => {
    const lengths = (first: string, last: string) => {
      const starts = localDays('Europe/Berlin', at(first), at(last)).map(({ start }) => start);
      return starts.slice(1).map((start, index) => (start - (starts[index] ?? 0)) / HOUR);
    };
    expect(lengths('2026-03-28T12:00:00Z', '2026-03-31T12:00:00Z')).toEqual([24, 23, 24]);
    expect(lengths('2026-10-24T12:00:00Z', '2026-10-27T12:00:00Z')).toEqual([24, 25, 24]);
  });

  test('begin when a skip over midnight ends', () => {
    expect(days('America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T12:00:00Z')).toEqual([
      ['2018-11-04', at('2018-11-04T03:00:00Z')],
    ]);
  });
});

describe('the first instant of a local time', () => {
  test.each([
    ['that the wall shows', 'Europe/Berlin', '2026-07-01T09:00', '2026-07-01T07:00:00Z'],
    ['at the beginning of a skip is its end', 'Europe/Berlin', '2026-03-29T02:00', '2026-03-29T01:00:00Z'],
    ['within a skip is its end', 'Europe/Berlin', '2026-03-29T02:30', '2026-03-29T01:00:00Z'],
    ['at the end of a skip', 'Europe/Berlin', '2026-03-29T03:00', '2026-03-29T01:00:00Z'],
    ['that comes twice is the earlier', 'Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    ['within a skip of half an hour', 'Australia/Lord_Howe', '2027-10-03T02:15', '2027-10-02T15:30:00Z'],
    ['on a date that a zone left out', 'Pacific/Apia', '2011-12-30T09:00', '2011-12-30T10:00:00Z'],
  ])('%s', (_, zone, local, instant) => {
    expect(firstInstant(zone, Temporal.PlainDateTime.from(local))).toBe(at(instant));
  });
});

test.each([
  ['Asia/Kathmandu', '2026-01-01T00:00:00Z', 20_700],
  ['Africa/Monrovia', '1971-01-01T00:00:00Z', -2_670],
  ['America/St_Johns', '2026-01-01T00:00:00Z', -12_600],
])('%s at %s is so many seconds east of UTC', (zone, instant, offset) => {
  expect(offsetAt(zone, Date.parse(instant))).toBe(offset);
});
