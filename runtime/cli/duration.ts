import { DAY, HOUR, MINUTE, type Micros } from '../clock.ts';

const UNITS: Readonly<Record<string, Micros>> = { m: MINUTE, h: HOUR, d: DAY };

/** Reads `90m`, `12h` or `3d`, µs; null for anything else and for nothing at all. */
export function parseDuration(text: string): Micros | null {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const length = Number(amount) * (UNITS[unit] ?? Number.NaN);
  return length > 0 ? length : null;
}
