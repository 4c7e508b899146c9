/** Local dates and times of a zone, as people type them, and the instants they mean (ui §1.7 rule 1). */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LOCAL = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}))?$/;

/** Whether this browser knows the zone. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return true;
  } catch {
    // The only way to ask; a RangeError is the answer no.
    return false;
  }
}

/** `YYYY-MM-DDTHH:MM` in the zone, the form of a `datetime-local` field. @param at ms since the epoch */
export function toZoned(at: number, zone: string): string {
  return new Date(at + offsetMs(at, zone)).toISOString().slice(0, 16);
}

/** `YYYY-MM-DD` in the zone. @param at ms since the epoch */
export function toZonedDate(at: number, zone: string): string {
  return toZoned(at, zone).slice(0, 10);
}

/**
 * The instant a local date (its midnight) or date and time means, ms since the epoch. Where the clocks skip it, the
 * instant the skip ends; where it comes twice, the first. Null for text that is no such date.
 */
export function fromZoned(local: string, zone: string): number | null {
  const parts = LOCAL.exec(local);
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const asUtc = Date.UTC(year, month - 1, day, hour, minute);
  const wanted = `${local.slice(0, 10)}T${local.slice(11) || '00:00'}`;
  if (new Date(asUtc).toISOString().slice(0, 16) !== wanted) return null;
  const before = offsetMs(asUtc - DAY_MS, zone);
  const after = offsetMs(asUtc + DAY_MS, zone);
  const early = asUtc - Math.max(before, after);
  const late = asUtc - Math.min(before, after);
  if (toZoned(early, zone) === wanted) return early;
  if (toZoned(late, zone) === wanted) return late;
  return endOfSkip(early, late, zone);
}

/** The date so many days later; dates know no zone. */
export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The first minute after `from` whose offset is that of `to`: between them the clocks were put forward. */
function endOfSkip(from: number, to: number, zone: string): number {
  const offset = offsetMs(to, zone);
  let [low, high] = [from, to];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetMs(middle, zone) === offset) high = middle;
    else low = middle;
  }
  return high;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the zone's clocks are ahead of UTC, whole minutes in ms. */
function offsetMs(at: number, zone: string): number {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    });
    formats.set(zone, format);
  }
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = part;
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / MINUTE_MS) * MINUTE_MS;
}
