import { describe, expect, it } from 'vitest';
import { addDays, fromZoned, isTimeZone, toZoned, toZonedDate } from './zoned.ts';

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

describe('local times of a zone', () => {
  it.each([
    ['an ordinary time', '2026-11-23T09:00', 'Europe/Berlin', '2026-11-23T08:00:00.000Z'],
    ['a midnight, from a date alone', '2026-07-01', 'Europe/Berlin', '2026-06-30T22:00:00.000Z'],
    ['a zone west of Greenwich', '2026-11-22T20:30', 'America/New_York', '2026-11-23T01:30:00.000Z'],
    ['a zone with half an hour', '2026-11-22T06:00', 'Asia/Kolkata', '2026-11-22T00:30:00.000Z'],
    [
      'a time that the clocks skip: when the skip ends',
      '2027-03-28T02:30',
      'Europe/Berlin',
      '2027-03-28T01:00:00.000Z',
    ],
    ['a time that comes twice: the first', '2027-10-31T02:30', 'Europe/Berlin', '2027-10-31T00:30:00.000Z'],
    ['a midnight that is skipped', '2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
    ['the day after a change', '2027-03-29T09:00', 'Europe/Berlin', '2027-03-29T07:00:00.000Z'],
  ])('%s', (_, local, zone, instant) => {
    expect(iso(fromZoned(local, zone))).toBe(instant);
  });

  it.each(['', 'tomorrow', '2026-02-30', '2026-13-01T00:00', '2026-11-22T25:00'])('“%s” is none', (text) => {
    expect(fromZoned(text, 'UTC')).toBeNull();
  });

  it('are written the way fields want them, and read back', () => {
    const at = Date.parse('2026-11-22T23:45:31Z');
    expect(toZoned(at, 'Europe/Berlin')).toBe('2026-11-23T00:45');
    expect(toZonedDate(at, 'Europe/Berlin')).toBe('2026-11-23');
    expect(iso(fromZoned(toZoned(at, 'Asia/Kathmandu'), 'Asia/Kathmandu'))).toBe('2026-11-22T23:45:00.000Z');
  });
});

it('counts days over months', () => {
  expect(addDays('2026-02-27', 3)).toBe('2026-03-02');
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
});

it('knows zones from other words', () => {
  expect([isTimeZone('Europe/Berlin'), isTimeZone('Mars/Base'), isTimeZone('')]).toEqual([
    true,
    false,
    false,
  ]);
});
