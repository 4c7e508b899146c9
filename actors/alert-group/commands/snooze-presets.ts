/** Ends of preset Snoozes: starts of the working day in a time zone, daylight saving included (alert-groups §6.4). */
import { Temporal } from 'temporal-polyfill';
import type { Micros } from '../../../runtime/clock.ts';
import type { Weekday } from '../../directory.ts';
import { dateAt, firstInstant } from '../../wall-clock.ts';

export const SNOOZE_PRESETS = ['tomorrow', 'week_start'] as const;
export type SnoozePreset = (typeof SNOOZE_PRESETS)[number];

export interface WorkWeek {
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** `HH:MM`. */
  readonly workdayStart: string;
  readonly weekStart: Weekday;
}

/** A week and a day on either side: the wanted day is among them in every zone. */
const DATES_AHEAD = 8;
/** As Temporal counts them, from 1. */
const WEEKDAYS: readonly Weekday[] = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
];

/**
 * The end of a preset: `tomorrow` is the earliest start of a working day strictly after `now` (which may be today),
 * `week_start` the same over the days that begin a week.
 */
export function presetEnd(preset: SnoozePreset, now: Micros, week: WorkWeek): Micros {
  const workdayStart = Temporal.PlainTime.from(week.workdayStart);
  const today = dateAt(week.timeZone, now);
  for (let ahead = -1; ahead <= DATES_AHEAD; ahead++) {
    const date = today.add({ days: ahead });
    if (preset === 'week_start' && WEEKDAYS[date.dayOfWeek - 1] !== week.weekStart) continue;
    const start = firstInstant(week.timeZone, date.toPlainDateTime(workdayStart));
    if (start > now) return start;
  }
  throw new Error(`no working day starts within ${DATES_AHEAD} days in ${week.timeZone}`);
}
