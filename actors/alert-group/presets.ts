/** Ends of preset Snoozes: starts of the working day in a time zone, daylight saving included (§6.4). */
import type { Micros } from '../../runtime/clock.ts';
import type { Weekday } from '../directory.ts';
import { wallClock } from '../wall-clock.ts';

export const SNOOZE_PRESETS = ['tomorrow', 'week_start'] as const;
export type SnoozePreset = (typeof SNOOZE_PRESETS)[number];

export interface WorkWeek {
  /** A name of the IANA database. */
  readonly timeZone: string;
  /** `HH:MM`. */
  readonly workdayStart: string;
  readonly weekStart: Weekday;
}

const DAY_MS = 86_400_000;
/** A week and a day on either side: the wanted day is among them in every zone. */
const DATES_AHEAD = 8;
const WEEKDAYS: readonly Weekday[] = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
];

/**
 * The end of a preset: `tomorrow` is the earliest start of a working day strictly after `now` (which may be today),
 * `week_start` the same over the days that begin a week.
 */
export function presetEnd(preset: SnoozePreset, now: Micros, week: WorkWeek): Micros {
  const wall = wallClock(week.timeZone);
  const [hour = 0, minute = 0] = week.workdayStart.split(':').map(Number);
  const today = Math.floor(wall.at(now / 1000) / DAY_MS) * DAY_MS;
  for (let ahead = -1; ahead <= DATES_AHEAD; ahead++) {
    const date = today + ahead * DAY_MS;
    if (preset === 'week_start' && WEEKDAYS[new Date(date).getUTCDay()] !== week.weekStart) continue;
    const start = wall.instant(date + (hour * 60 + minute) * 60_000) * 1000;
    if (start > now) return start;
  }
  throw new Error(`no working day starts within ${DATES_AHEAD} days in ${week.timeZone}`);
}

/** Whether a text names a zone of the IANA database. Offsets such as `+02:00` do not. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
