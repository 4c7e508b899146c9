import { describe, expect, test } from 'vitest';
import { HOUR, parseInstant } from '../runtime/clock.ts';
import { localDays } from './wall-clock.ts';

const at = (text: string) => parseInstant(text) ?? Number.NaN;
const days = (zone: string, first: string, last: string) =>
  localDays(zone, at(first), at(last)).map(({ date, start }) => [date, start]);

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
