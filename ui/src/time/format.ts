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

const SHAPES = {
  dateTime: { dateStyle: 'medium', timeStyle: 'short' },
  exact: { dateStyle: 'medium', timeStyle: 'long' },
  coming: { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
  weekdayClock: { weekday: 'short', hour: '2-digit', minute: '2-digit' },
  clockSeconds: { timeStyle: 'medium' },
  clock: { hour: '2-digit', minute: '2-digit' },
  date: { dateStyle: 'medium' },
  day: { weekday: 'short', day: 'numeric', month: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** A list of 500 rows formats 1,500 times; making a format takes many times as long as using it. */
const made = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();

function once<Format extends Intl.DateTimeFormat | Intl.NumberFormat>(
  key: string,
  make: () => Format,
): Format {
  const known = made.get(key) as Format | undefined;
  if (known !== undefined) return known;
  const format = make();
  made.set(key, format);
  return format;
}

const dateFormat = (shape: keyof typeof SHAPES, locale: string, timeZone: string) =>
  once(
    `${shape} ${locale} ${timeZone}`,
    () => new Intl.DateTimeFormat(locale, { ...SHAPES[shape], timeZone }),
  );

type Words = 'short' | 'narrow';

const unitFormat = (unit: string, locale: string, unitDisplay: Words) =>
  once(
    `${unit} ${unitDisplay} ${locale}`,
    () => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay }),
  );

/** The two largest units: `2 hrs 5 mins`. @param seconds whole or not, never negative in the result */
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
    parts.push(unitFormat(unit, locale, 'short').format(amount));
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/** The largest unit alone: `2 hrs`, or narrow `2h`. */
export function formatAge(seconds: number, locale: string, words: Words): string {
  const whole = Math.max(0, seconds);
  const [unit, size] = UNITS.find(([, unitSize]) => whole >= unitSize) ?? UNITS[3];
  const amount = Math.floor(whole / size);
  return unitFormat(unit, locale, words).format(amount);
}

/** Date and time to the minute in a zone, e.g. `21 Nov 2026, 09:00`. */
export const formatDateTime = (at: number, locale: string, timeZone: string): string =>
  dateFormat('dateTime', locale, timeZone).format(at);

/** The exact instant with seconds and the zone's name. */
export const formatExact = (at: number, locale: string, timeZone: string): string =>
  dateFormat('exact', locale, timeZone).format(at);

/** For the tooltip of an instant: exact in a zone, and as RFC 3339. */
export const formatTooltip = (at: number, locale: string, timeZone: string): string =>
  `${formatExact(at, locale, timeZone)} · ${new Date(at).toISOString()}`;

/** Weekday, date and time, for instants to come: `Mon, 23 Nov, 09:00`. */
export const formatComing = (at: number, locale: string, timeZone: string): string =>
  dateFormat('coming', locale, timeZone).format(at);

/** An instant to come, short: `09:00` today, `Mon 09:00` within six days, else `23 Nov 2026`. */
export function formatAhead(at: number, locale: string, timeZone: string, now: number): string {
  const date = dateFormat('date', locale, timeZone);
  if (date.format(at) === date.format(now)) return formatClock(at, locale, timeZone);
  return at - now < 6 * DAY * 1_000
    ? dateFormat('weekdayClock', locale, timeZone).format(at)
    : date.format(at);
}

/** `HH:MM:SS` in a zone. */
export const formatClockSeconds = (at: number, locale: string, timeZone: string): string =>
  dateFormat('clockSeconds', locale, timeZone).format(at);

/** `HH:MM` in a zone. */
export const formatClock = (at: number, locale: string, timeZone: string): string =>
  dateFormat('clock', locale, timeZone).format(at);

/** Since when something is so: `HH:MM`, and the date when it was not today. */
export function formatSince(at: number, locale: string, timeZone: string, now = Date.now()): string {
  const date = dateFormat('date', locale, timeZone);
  return date.format(at) === date.format(now)
    ? formatClock(at, locale, timeZone)
    : formatDateTime(at, locale, timeZone);
}

/** Around an instant in a text: a character that stands for nothing. */
const MARK = '\uE000';

/** An instant in a text that `TimedText.svelte` shows. @param at RFC 3339 */
export const inText = (at: string): string => MARK + at + MARK;

/** The parts of a text between and with the instants that {@link inText} put into it. */
export function timesIn(text: string): readonly { readonly part: string; readonly isTime: boolean }[] {
  const parts = text.split(/\uE000(\d{4}-[\dT:.Z+-]+)\uE000/);
  return parts.map((part, index) => ({ part, isTime: index % 2 === 1 && !Number.isNaN(Date.parse(part)) }));
}

/** A local date without a zone, e.g. `Mon, 23 Nov`. @param date `YYYY-MM-DD` */
export const formatDay = (date: string, locale: string): string =>
  dateFormat('day', locale, 'UTC').format(Date.parse(`${date}T00:00Z`));
