/** Times and durations as people read them (ui §1.7). */

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

const UNITS = [
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', 1],
] as const;

/** The two largest units, short: `2h 5m`. @param seconds whole or not, never negative in the result */
export function formatDuration(seconds: number, locale: string): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount === 0 && !(unit === 'second' && parts.length === 0)) {
      if (parts.length > 0) break;
      continue;
    }
    parts.push(new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'narrow' }).format(amount));
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** The largest unit alone: `2h`. */
export function formatAge(seconds: number, locale: string): string {
  const whole = Math.max(0, seconds);
  const [unit, size] = UNITS.find(([, unitSize]) => whole >= unitSize) ?? UNITS[3];
  const amount = Math.floor(whole / size);
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'narrow' }).format(amount);
}

/** Date and time to the minute in a zone, e.g. `21 Nov 2026, 09:00`. */
export function formatDateTime(at: number, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(at);
}

/** The exact instant with seconds and the zone's name, for tooltips and accessible names. */
export function formatExact(at: number, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'long',
    timeZone,
  }).format(at);
}

/** Weekday, date and time, for instants to come: `Mon, 23 Nov, 09:00`. */
export function formatComing(at: number, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone,
  }).format(at);
}

/** `HH:MM:SS` in a zone. */
export function formatClockSeconds(at: number, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { timeStyle: 'medium', timeZone }).format(at);
}

/** `HH:MM` in a zone. */
export function formatClock(at: number, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', timeZone }).format(at);
}

/** Since when something is so: `HH:MM`, and the date when it was not today. */
export function formatSince(at: number, locale: string, timeZone: string, now = Date.now()): string {
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  return date.format(at) === date.format(now)
    ? formatClock(at, locale, timeZone)
    : formatDateTime(at, locale, timeZone);
}

/** A local date without a zone, e.g. `Mon, 23 Nov`. @param date `YYYY-MM-DD` */
export function formatDay(date: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  }).format(Date.parse(`${date}T00:00Z`));
}
