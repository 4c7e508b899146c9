import { DAY, type Micros } from '../runtime/clock.ts';

/** The UTC day of an instant, counted from 1970-01-01: the partition of a body received then. */
export function dayOf(at: Micros): number {
  return Math.floor(at / DAY);
}
