import { type Micros, SECOND } from '../clock.ts';

const LONGEST_SECONDS = 31_536_000;

/**
 * Reads a `Retry-After` header (outbound-http §1.2): whole seconds up to a year, or an HTTP date.
 * @returns the instant before which nothing may be sent (µs; a past date gives `now`), or null when it is unusable
 */
export function retryAfter(header: string | undefined, now: Micros): Micros | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) {
    const seconds = Number(text);
    return seconds <= LONGEST_SECONDS ? now + seconds * SECOND : null;
  }
  if (!/^[A-Z][a-z]{2,8}[, ]/.test(text)) return null;
  // The oldest of the three HTTP date forms names no zone and means UTC all the same.
  const millis = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(millis) ? null : Math.max(now, millis * 1000);
}
