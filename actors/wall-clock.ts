/** Local dates and times in time zones, daylight saving included. Zones are named as in the IANA database. */
import { Temporal } from 'temporal-polyfill';
import type { Micros } from '../runtime/clock.ts';

/** A date of a zone and the instant at which it begins. */
export interface LocalDay {
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly start: Micros;
}

/** Offset of a zone from UTC at an instant, s, positive in the east. @param instant whole ms since 1970 */
export function offsetAt(timeZone: string, instant: number): number {
  if (timeZone === 'UTC') return 0;
  return new Temporal.ZonedDateTime(BigInt(instant) * 1_000_000n, timeZone).offsetNanoseconds / 1_000_000_000;
}

/** The date that a zone has at an instant. */
export function dateAt(timeZone: string, at: Micros): Temporal.PlainDate {
  return new Temporal.ZonedDateTime(BigInt(at) * 1_000n, timeZone).toPlainDate();
}

/** The first instant with the local time `local`; where clocks skip it, the instant at which the skip ends. */
export function firstInstant(timeZone: string, local: Temporal.PlainDateTime): Micros {
  const zoned = local.toZonedDateTime(timeZone);
  const isSkipped = !zoned.toPlainDateTime().equals(local);
  // Temporal adds the length of the skip, which may lead exactly to its end.
  const skip = isSkipped ? zoned.add({ nanoseconds: 1 }).getTimeZoneTransition('previous') : null;
  return (skip ?? zoned).epochMilliseconds * 1000;
}

/** The local dates from that of `first` to that of `last`, both included, in order. */
export function localDays(timeZone: string, first: Micros, last: Micros): LocalDay[] {
  const days: LocalDay[] = [];
  const end = dateAt(timeZone, last);
  for (
    let date = dateAt(timeZone, first);
    Temporal.PlainDate.compare(date, end) <= 0;
    date = date.add({ days: 1 })
  ) {
    days.push({ date: date.toString(), start: date.toZonedDateTime(timeZone).epochMilliseconds * 1000 });
  }
  return days;
}

/** From an instant on, local time is UTC plus `offset`. */
export interface OffsetSpan {
  readonly start: Micros;
  readonly offset: Micros;
}

/** The offsets that a zone has from `first` to `last`, in order: one, and one more for each change of the clocks. */
export function offsetSpans(timeZone: string, first: Micros, last: Micros): OffsetSpan[] {
  const spans: OffsetSpan[] = [];
  let start: Temporal.ZonedDateTime | null = new Temporal.ZonedDateTime(BigInt(first) * 1_000n, timeZone);
  while (start !== null && start.epochMilliseconds * 1000 <= last) {
    const at = spans.length === 0 ? first : start.epochMilliseconds * 1000;
    spans.push({ start: at, offset: start.offsetNanoseconds / 1000 });
    start = start.getTimeZoneTransition('next');
  }
  return spans;
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
