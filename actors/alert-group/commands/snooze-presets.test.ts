import { describe, expect, test } from 'vitest';
import { formatInstant, parseInstant } from '../../../runtime/clock.ts';
import { isTimeZone } from '../../wall-clock.ts';
import { presetEnd, type WorkWeek } from './snooze-presets.ts';

const BERLIN: WorkWeek = { timeZone: 'Europe/Berlin', workdayStart: '09:00', weekStart: 'monday' };

function end(preset: 'tomorrow' | 'week_start', now: string, week: WorkWeek): string {
  return formatInstant(presetEnd(preset, parseInstant(now) ?? Number.NaN, week));
}

describe('presetEnd', () => {
  test.each([
    ['row 56, tomorrow', 'tomorrow', '2027-03-26T10:00:00+01:00', BERLIN, '2027-03-27T08:00:00Z'],
    ['row 56, week_start', 'week_start', '2027-03-26T10:00:00+01:00', BERLIN, '2027-03-29T07:00:00Z'],
    [
      'row 57, the start is skipped: the instant the skip ends',
      'tomorrow',
      '2027-03-28T00:00:00+01:00',
      { ...BERLIN, workdayStart: '02:30' },
      '2027-03-28T01:00:00Z',
    ],
    [
      'row 57, the start occurs twice: the first',
      'tomorrow',
      '2027-10-30T12:00:00+02:00',
      { ...BERLIN, workdayStart: '02:30' },
      '2027-10-31T00:30:00Z',
    ],
    ['may be today', 'tomorrow', '2027-06-01T08:59:59+02:00', BERLIN, '2027-06-01T07:00:00Z'],
    ['is strictly after now', 'tomorrow', '2027-06-01T09:00:00+02:00', BERLIN, '2027-06-02T07:00:00Z'],
    [
      'week_start on the day itself, an hour before',
      'week_start',
      '2027-05-31T08:00:00+02:00',
      BERLIN,
      '2027-05-31T07:00:00Z',
    ],
    [
      'a zone far east of UTC has its own today',
      'tomorrow',
      '2027-06-01T11:00:00Z',
      { ...BERLIN, timeZone: 'Pacific/Kiritimati' },
      '2027-06-01T19:00:00Z',
    ],
    [
      'midnight that a zone skips',
      'tomorrow',
      '2024-09-07T12:00:00-04:00',
      { timeZone: 'America/Santiago', workdayStart: '00:00', weekStart: 'monday' },
      '2024-09-08T04:00:00Z',
    ],
    [
      'a zone that is half an hour off',
      'tomorrow',
      '2027-06-01T10:00:00+05:30',
      { ...BERLIN, timeZone: 'Asia/Kolkata' },
      '2027-06-02T03:30:00Z',
    ],
    [
      'a zone that is three quarters of an hour off',
      'week_start',
      '2027-06-01T10:00:00+05:45',
      { ...BERLIN, timeZone: 'Asia/Kathmandu' },
      '2027-06-07T03:15:00Z',
    ],
    [
      'clocks that skip half an hour: the instant the skip ends',
      'tomorrow',
      '2027-10-02T12:00:00Z',
      { ...BERLIN, timeZone: 'Australia/Lord_Howe', workdayStart: '02:15' },
      '2027-10-02T15:30:00Z',
    ],
    [
      'half an hour that occurs twice: the first',
      'tomorrow',
      '2027-04-03T12:00:00Z',
      { ...BERLIN, timeZone: 'Australia/Lord_Howe', workdayStart: '01:45' },
      '2027-04-03T14:45:00Z',
    ],
  ] as const)('%s', (_, preset, now, week, expected) => {
    expect(end(preset, now, week)).toBe(expected);
  });
});

test('a time zone is a name, not an offset', () => {
  expect(['Europe/Berlin', 'UTC', '+02:00', 'Mars/Base', ''].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
