/** Clocks on the walls of time zones, daylight saving included. */
import type { Micros } from '../runtime/clock.ts';

const DAY_MS = 86_400_000;

/** Wall time of a zone as milliseconds, counted as if the wall showed UTC. */
export interface WallClock {
  /** What the wall shows at an instant, ms since 1970. */
  at(instant: number): number;
  /** The first instant at which the wall shows `shown`; where clocks skip it, the instant the skip ends. */
  instant(shown: number): number;
}

/** A date of a zone and the instant at which it begins. */
export interface LocalDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly start: Micros;
}

/** The dates of a zone from that of `first` to that of `last`, both included, in order. */
export function localDays(timeZone: string, first: Micros, last: Micros): LocalDay[] {
  const wall = wallClock(timeZone);
  const dayOf = (at: Micros) => Math.floor(wall.at(at / 1000) / DAY_MS) * DAY_MS;
  const days: LocalDay[] = [];
  const end = dayOf(last);
  for (let day = dayOf(first); day <= end; day += DAY_MS) {
    days.push({ date: new Date(day).toISOString().slice(0, 10), start: wall.instant(day) * 1000 });
  }
  return days;
}

/** @param timeZone a name of the IANA database */
export function wallClock(timeZone: string): WallClock {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });

  const at = (instant: number): number => {
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  };
  const offset = (instant: number): number => at(instant) - Math.floor(instant / 1000) * 1000;

  const instant = (shown: number): number => {
    const offsets = [offset(shown - DAY_MS), offset(shown + DAY_MS)];
    const candidates = offsets.map((known) => shown - known).sort((left, right) => left - right);
    const exact = candidates.find((candidate) => at(candidate) === shown);
    return exact ?? firstAfter(shown - DAY_MS, shown + DAY_MS, (candidate) => at(candidate) >= shown);
  };

  return { at, instant };
}

/** The first whole second in (from, to] at which `holds`, which from then on it does. */
function firstAfter(from: number, to: number, holds: (instant: number) => boolean): number {
  let [low, high] = [from, to];
  while (high - low > 1000) {
    const middle = low + Math.floor((high - low) / 2000) * 1000;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}
