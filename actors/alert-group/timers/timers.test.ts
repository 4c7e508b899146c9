import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOUR, MINUTE } from '../../../runtime/clock.ts';
import { ackInterval, type Interval, overdueNotices, reminderInterval } from './timers.ts';

const POLICY = {
  ackTimeout: 15 * MINUTE,
  reminders: { first: 4 * HOUR, cap: 24 * HOUR },
  autoUnacknowledge: false,
};

describe('intervals', () => {
  test('of the ack timeout double, and there are three', () => {
    const interval = ackInterval(POLICY);
    expect([0, 1, 2, 3, 4].map(interval)).toEqual([15 * MINUTE, 30 * MINUTE, 60 * MINUTE, null, null]);
  });

  test('of Reminders double up to the cap', () => {
    const interval = reminderInterval(POLICY);
    expect([0, 1, 2, 3, 4].map((sent) => (interval(sent) ?? 0) / HOUR)).toEqual([4, 8, 16, 24, 24]);
    expect(interval(5_000)).toBe(24 * HOUR);
  });

  test('a cap below the first interval is the interval', () => {
    const interval = reminderInterval({ ...POLICY, reminders: { first: 4 * HOUR, cap: HOUR } });
    expect([0, 1].map(interval)).toEqual([HOUR, HOUR]);
  });

  test('there are none while switched off', () => {
    const off = { ...POLICY, ackTimeout: null, reminders: null };
    expect([ackInterval(off)(0), reminderInterval(off)(0)]).toEqual([null, null]);
  });
});

describe('overdueNotices', () => {
  /** One after the other, as the schedule says. */
  function counted(interval: Interval, dueAt: number, sent: number, now: number): number {
    let count = 0;
    for (let due: number | null = dueAt; due !== null && due <= now; count++) {
      const pause = interval(sent + count + 1);
      due = pause === null ? null : due + pause;
    }
    return count;
  }

  test('counts every notice that is due, however long the service was away', () => {
    const schedule = fc.record({
      first: fc.integer({ min: 1, max: 50 }),
      cap: fc.integer({ min: 1, max: 200 }),
      sent: fc.nat(8),
      late: fc.integer({ min: -5, max: 3_000 }),
    });
    fc.assert(
      fc.property(schedule, ({ first, cap, sent, late }) => {
        const policy = { ackTimeout: first, reminders: { first, cap }, autoUnacknowledge: false };
        for (const interval of [reminderInterval(policy), ackInterval(policy)]) {
          expect(overdueNotices(interval, 100, sent, 100 + late)).toBe(
            counted(interval, 100, sent, 100 + late),
          );
        }
      }),
    );
  });

  test('takes no longer for a year than for an hour', () => {
    const everySecond = reminderInterval({ ...POLICY, reminders: { first: 1, cap: 1 } });
    const year = 365 * 24 * HOUR;
    expect(overdueNotices(everySecond, 0, 0, year)).toBe(year + 1);
  });
});
