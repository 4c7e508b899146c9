/** Times and durations as messages write them (messages §11). */
import type { Micros } from '../../runtime/clock.ts';
import { type WallClock, wallClock } from '../wall-clock.ts';
import { type Language, type PlainKey, text } from './texts/texts.ts';

const MINUTE_MS = 60_000;

/** `2026-10-04 18:00 UTC+02:00` in a zone of the IANA database; `UTC` where the offset is zero. */
export function fullTime(at: Micros, zone: string): string {
  const instant = Math.floor(at / 1000);
  const shown = wallOf(zone).at(instant);
  const minutes = Math.round((shown - Math.floor(instant / 1000) * 1000) / MINUTE_MS);
  const [date = '', time = ''] = new Date(shown).toISOString().split('T');
  return `${date} ${time.slice(0, 5)} ${offsetText(minutes)}`;
}

/** `18:00`, for notes about what happened lately. */
export function shortTime(at: Micros, zone: string): string {
  return new Date(wallOf(zone).at(Math.floor(at / 1000))).toISOString().slice(11, 16);
}

const UNITS = [
  ['duration.day', 86_400],
  ['duration.hour', 3_600],
  ['duration.minute', 60],
  ['duration.second', 1],
] as const satisfies readonly (readonly [PlainKey, number])[];

/** Seconds in the largest unit that divides them: 86,400 is `1 d`, 5,400 is `90 min`. */
export function durationText(seconds: number, language: Language): string {
  const [key, size] = UNITS.find(([, unit]) => seconds % unit === 0) ?? UNITS[3];
  return text(language, key, { n: seconds / size });
}

function offsetText(minutes: number): string {
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const two = (value: number) => String(value).padStart(2, '0');
  return `UTC${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Kept because making one costs more than laying out a message. There are as many as zones. */
const walls = new Map<string, WallClock>();

function wallOf(zone: string): WallClock {
  const known = walls.get(zone);
  if (known) return known;
  const wall = wallClock(zone);
  walls.set(zone, wall);
  return wall;
}
