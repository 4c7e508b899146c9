/**
 * Time as Tocsin counts it.
 *
 * Every instant inside the service is a {@link Micros}: whole microseconds since 1970-01-01T00:00:00Z, exact in
 * a JavaScript number until the year 2255. Instants become RFC 3339 text only at the edges.
 */
export type Micros = number;

export const SECOND: Micros = 1_000_000;
export const MINUTE: Micros = 60 * SECOND;
export const HOUR: Micros = 60 * MINUTE;
export const DAY: Micros = 24 * HOUR;

/** A wait that can be called off. */
export interface Timer {
  cancel(): void;
}

/**
 * The only source of time. Business time moves with {@link Clock.now}; waiting uses the monotonic clock, so a
 * step of the wall clock neither fires nor holds up a running wait.
 */
export interface Clock {
  /** Business time, µs. */
  now(): Micros;
  /** Calls `run` once after `delay` µs (0 or less: as soon as possible). Does not keep the process alive. */
  after(delay: Micros, run: () => void): Timer;
}

let wallOffset = Date.now() - performance.now();

/** Wall time in µs: `Date.now()` refined by the monotonic clock, and following it when the wall clock is set. */
function wallNow(): Micros {
  const wall = Date.now();
  const fine = wallOffset + performance.now();
  if (Math.abs(fine - wall) <= 2) return Math.floor(fine * 1000);
  wallOffset = wall - performance.now();
  return wall * 1000;
}

/** The real clock: wall time in µs, waits on Node's timers. */
export const systemClock: Clock = {
  now: wallNow,
  after(delay, run) {
    const handle = setTimeout(run, Math.min(Math.max(0, delay / 1000), 2_147_483_647));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Time since some moment that never goes back and goes on while the process is paused, µs. */
export type Monotonic = () => Micros;

export const systemMonotonic: Monotonic = () => Math.floor(performance.now() * 1000);

/** First and last second that four digits of a year can name; what lies outside is taken as the nearest of them. */
const EARLIEST: Micros = Date.UTC(2000, 0, 1) * 1000 - 730_485 * DAY;
const LATEST: Micros = (Date.UTC(10_000, 0, 1) / 1000 - 1) * SECOND;

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;

/**
 * Reads an RFC 3339 date-time with any offset, cut to microseconds.
 * @returns null when the text is no RFC 3339 date-time or names a day that does not exist.
 */
export function parseInstant(text: string): Micros | null {
  const match = RFC3339.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second, fraction = '', , sign, offsetHour, offsetMinute] = match;
  const [h, m, s] = [Number(hour), Number(minute), Number(second)];
  if (h > 23 || m > 59 || s > 60) return null;
  const midnight = midnightOf(Number(year), Number(month), Number(day));
  if (midnight === null) return null;
  const offset = sign ? (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1) : 0;
  if (sign && (Number(offsetHour) > 23 || Number(offsetMinute) > 59)) return null;
  const time = (h * 3600 + m * 60 + s) * SECOND;
  const instant = midnight * 1000 + time - offset * MINUTE + Number(fraction.slice(0, 6).padEnd(6, '0'));
  return nearestNameable(instant);
}

/** The instant itself, or the nearest one whose year has four digits: RFC 3339 knows no other years. */
export function nearestNameable(instant: Micros): Micros {
  return Math.min(Math.max(instant, EARLIEST), LATEST);
}

/** Midnight of a day in UTC, ms since 1970; null for a day that no calendar has. */
function midnightOf(year: number, month: number, day: number): number | null {
  if (month < 1 || month > 12 || day < 1 || day > 31) return null;
  const date = new Date(0);
  const midnight = date.setUTCFullYear(year, month - 1, day);
  return day <= 28 || date.getUTCDate() === day ? midnight : null;
}

/** RFC 3339 in UTC with `Z`; sub-second digits only when there are any, at most six. */
export function formatInstant(at: Micros): string {
  const millis = Math.floor(at / 1000);
  const micros = at - Math.floor(at / SECOND) * SECOND;
  const whole = new Date(millis).toISOString().slice(0, -5);
  if (micros === 0) return `${whole}Z`;
  return `${whole}.${String(micros).padStart(6, '0').replace(/0+$/, '')}Z`;
}

/** {@link formatInstant}, with null staying null. */
export function formatInstantOrNull(at: Micros | null): string | null {
  return at === null ? null : formatInstant(at);
}

/** Resolves with the work, or when `longest` µs are over; the work itself goes on. */
export async function atMost(clock: Clock, longest: Micros, work: Promise<unknown>): Promise<void> {
  let timer = { cancel: (): void => undefined };
  const late = new Promise<void>((resolve) => {
    timer = clock.after(longest, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    timer.cancel();
  }
}
