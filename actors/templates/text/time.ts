/** Local times in time zones, and Go's time layouts (templates §3). */
import { offsetAt } from '../../wall-clock.ts';
import type { TemplateTime } from '../values.ts';

export interface WallTime {
  readonly year: number;
  /** 1–12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Nanoseconds within the second. */
  readonly nanos: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** Offset from UTC, s, positive in the east. */
  readonly offset: number;
}

export const MONTHS =
  'January February March April May June July August September October November December'.split(' ');
export const WEEKDAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

const MILLI = 1_000_000n;
/** ms. */
const DAY = 86_400_000;
const MOST_DAYS = 100;
/** Before this instant zones have no standard offsets. */
const FIRST_OFFSET = Date.UTC(1900, 0, 1);
const LAST_OFFSET = Date.UTC(9999, 0, 1);

/** Cached offsets of zones; there are some four hundred zones, under more names. */
const offsets = new Map<string, (millis: number) => number>();
/** Cached: the zone that each of the latest names means. */
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
    // `RangeError` is how a zone that does not exist is reported.
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

/** Replaces every element of Go's reference time `Mon Jan 2 15:04:05 MST 2006`; the rest is literal. */
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

/** `.000` prints all its digits, `.999` omits trailing zeros. */
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

/** Looking an offset up is slow, so a day that begins and ends with the same offset is looked up once. */
function byDays(zone: string): (millis: number) => number {
  const exact = (millis: number) => offsetAt(zone, millis);
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

/** Durations as texts. */

const SECOND = 1_000_000_000n;
const SMALL: readonly (readonly [size: bigint, unit: string])[] = [
  [1_000_000n, 'ms'],
  [1_000n, 'µs'],
  [1n, 'ns'],
];

/** As Go writes them: `1h2m3s`, `1.5s`, `0s`. */
export function durationText(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < SECOND) {
    const [unit, name] = SMALL.find(([smallest]) => size >= smallest) ?? [1n, 'ns'];
    return `${sign}${fractionOf(size, unit)}${name}`;
  }
  const minutes = size / (60n * SECOND);
  const seconds = `${fractionOf(size % (60n * SECOND), SECOND)}s`;
  if (minutes === 0n) return sign + seconds;
  const hours = minutes / 60n;
  return `${sign}${hours > 0n ? `${hours}h` : ''}${minutes % 60n}m${seconds}`;
}

/** For people: `1d 2h 3m 4s` from the largest unit that is not zero down, below a second `12.5ms` (templates §6). */
export function humanDuration(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < SECOND) return sign + (size === 0n ? '0s' : `${fractionOf(size, 1_000_000n)}ms`);
  const seconds = size / SECOND;
  const parts: readonly [bigint, string][] = [
    [seconds / 86_400n, 'd'],
    [(seconds / 3600n) % 24n, 'h'],
    [(seconds / 60n) % 60n, 'm'],
    [seconds % 60n, 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0n);
  return (
    sign +
    parts
      .slice(first)
      .map(([count, unit]) => `${count}${unit}`)
      .join(' ')
  );
}

/** A quotient with as many digits behind the point as it has. */
function fractionOf(size: bigint, unit: bigint): string {
  const rest = (size % unit)
    .toString()
    .padStart(unit.toString().length - 1, '0')
    .replace(/0+$/, '');
  return rest === '' ? `${size / unit}` : `${size / unit}.${rest}`;
}
