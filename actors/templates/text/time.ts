/** Times on the walls of zones and Go's layouts (templates §3). */
import { wallClock } from '../../wall-clock.ts';
import type { TemplateTime } from '../values.ts';

export interface WallTime {
  readonly year: number;
  /** 1–12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Within the second. */
  readonly nanos: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** East of UTC, s. */
  readonly offset: number;
}

export const MONTHS =
  'January February March April May June July August September October November December'.split(' ');
export const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const MILLI = 1_000_000n;
/** ms. */
const DAY = 86_400_000;
const MOST_DAYS = 100;
/** Before, zones have no offsets that anyone could name. */
const FIRST_OFFSET = Date.UTC(1900, 0, 1);
const LAST_OFFSET = Date.UTC(9999, 0, 1);

/** How far zones are from UTC; there are some four hundred zones, whatever the names for them. */
const offsets = new Map<string, (millis: number) => number>();
/** The zones behind names, for the latest names. */
const zones = new Map<string, string | null>();
const MOST_NAMES = 1_000;

/** The zone that a name of the IANA database means; null when there is none. */
export function zoneOf(name: string): string | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  const found = /^[A-Za-z]/.test(name) ? resolved(name) : null;
  if (zones.size >= MOST_NAMES) zones.clear();
  zones.set(name, found);
  return found;
}

function resolved(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    // The one way to ask for a zone that does not exist.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

export function wallTime({ nanos, zone }: TemplateTime): WallTime {
  const millis = Number(floorDivide(nanos, MILLI));
  const offset = offsetOf(zone)(Math.min(Math.max(millis, FIRST_OFFSET), LAST_OFFSET));
  const wall = new Date(millis + offset * 1000);
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: wall.getUTCSeconds(),
    nanos: Number(nanos - floorDivide(nanos, 1000n * MILLI) * 1000n * MILLI),
    weekday: wall.getUTCDay(),
    offset,
  };
}

/** `2026-03-09 14:05:00 +0000 UTC`. */
export function timeText(time: TemplateTime): string {
  return formatTime(time, '2006-01-02 15:04:05.999999999 -0700 MST');
}

const PARTS =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|Z07:00|-07:00|-0700|[.,]0+(?!\d)|[.,]9+(?!\d)|01|02|03|04|05|06|15|PM|pm|_2(?!006)|[1-5]/g;

/** Everything that Go's reference time `Mon Jan 2 15:04:05 MST 2006` names is replaced; the rest is literal. */
export function formatTime(time: TemplateTime, layout: string): string {
  const wall = wallTime(time);
  return layout.replace(PARTS, (part) => partText(wall, part));
}

export function zoneName(offset: number): string {
  return offset === 0 ? 'UTC' : `UTC${offsetText(offset, ':')}`;
}

function partText(wall: WallTime, part: string): string {
  const hour = wall.hour % 12 || 12;
  switch (part) {
    case '2006':
      return yearText(wall.year);
    case '06':
      return twoDigits(((wall.year % 100) + 100) % 100);
    case 'January':
      return MONTHS[wall.month - 1] ?? '';
    case 'Jan':
      return (MONTHS[wall.month - 1] ?? '').slice(0, 3);
    case '01':
      return twoDigits(wall.month);
    case '1':
      return String(wall.month);
    case 'Monday':
      return WEEKDAYS[wall.weekday] ?? '';
    case 'Mon':
      return (WEEKDAYS[wall.weekday] ?? '').slice(0, 3);
    case '02':
      return twoDigits(wall.day);
    case '_2':
      return String(wall.day).padStart(2, ' ');
    case '2':
      return String(wall.day);
    case '15':
      return twoDigits(wall.hour);
    case '03':
      return twoDigits(hour);
    case '3':
      return String(hour);
    case '04':
      return twoDigits(wall.minute);
    case '4':
      return String(wall.minute);
    case '05':
      return twoDigits(wall.second);
    case '5':
      return String(wall.second);
    case 'PM':
      return wall.hour >= 12 ? 'PM' : 'AM';
    case 'pm':
      return wall.hour >= 12 ? 'pm' : 'am';
    case '-0700':
      return offsetText(wall.offset, '');
    case '-07:00':
      return offsetText(wall.offset, ':');
    case 'Z07:00':
      return wall.offset === 0 ? 'Z' : offsetText(wall.offset, ':');
    case 'MST':
      return zoneName(wall.offset);
    default:
      return fraction(wall.nanos, part);
  }
}

/** `.000` prints all its digits, `.999` leaves zeros at the end out. */
function fraction(nanos: number, part: string): string {
  const digits = String(nanos)
    .padStart(9, '0')
    .slice(0, part.length - 1)
    .padEnd(part.length - 1, '0');
  if (part[1] === '0') return part.charAt(0) + digits;
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? '' : part.charAt(0) + kept;
}

function offsetText(offset: number, between: string): string {
  const minutes = Math.floor(Math.abs(offset) / 60);
  const sign = offset < 0 ? '-' : '+';
  return `${sign}${twoDigits(Math.floor(minutes / 60))}${between}${twoDigits(minutes % 60)}`;
}

function yearText(year: number): string {
  return year < 0 ? `-${String(-year).padStart(4, '0')}` : String(year).padStart(4, '0');
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function offsetOf(zone: string): (millis: number) => number {
  if (zone === 'UTC') return () => 0;
  const known = offsets.get(zone);
  if (known) return known;
  const found = byDays(zone);
  offsets.set(zone, found);
  return found;
}

/** Asking for an offset is slow, so a day that begins and ends with the same one is asked for only once. */
function byDays(zone: string): (millis: number) => number {
  const wall = wallClock(zone);
  const exact = (millis: number) => Math.round((wall.at(millis) - Math.floor(millis / 1000) * 1000) / 1000);
  const days = new Map<number, number | null>();
  return (millis) => {
    const day = Math.floor(millis / DAY);
    let offset = days.get(day);
    if (offset === undefined) {
      const first = exact(day * DAY);
      offset = exact((day + 1) * DAY) === first ? first : null;
      if (days.size >= MOST_DAYS) days.clear();
      days.set(day, offset);
    }
    return offset ?? exact(millis);
  };
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
