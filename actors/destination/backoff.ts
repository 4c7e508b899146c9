/** How long an event waits after a transient failure, and when its budget is spent (webhooks §3.4). Pure. */
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';

const FIRST_STEP: Micros = 2 * SECOND;
const LONGEST_STEP: Micros = 5 * MINUTE;
const SHORTEST_WAIT: Micros = 2 * SECOND;
const FIRST_UNREAD_PAUSE: Micros = SECOND;
const LONGEST_UNREAD_PAUSE: Micros = 30 * SECOND;
const BUDGET_ATTEMPTS = 10;
const BUDGET_TIME: Micros = 30 * MINUTE;

/**
 * The wait after the n-th failed attempt: the step doubles from 2 s to 5 min; jitter takes it to between half and
 * the whole, never under 2 s.
 * @param attempts failed attempts so far, from 1
 * @param fraction random, 0 to 1
 */
export function backoff(attempts: number, fraction: number): Micros {
  const step = Math.min(FIRST_STEP * 2 ** (attempts - 1), LONGEST_STEP);
  return Math.max(SHORTEST_WAIT, Math.round(step / 2 + (step / 2) * fraction));
}

/**
 * The wait of an event that could not be read from the database: doubling from 1 s to 30 s. No attempt was made.
 * @param times in a row, from 1
 */
export function unreadPause(times: number): Micros {
  return Math.min(FIRST_UNREAD_PAUSE * 2 ** (times - 1), LONGEST_UNREAD_PAUSE);
}

/** Whether an event has used up `delivery.transient_budget`. */
export function budgetSpent(attempts: number, firstFailedAt: Micros, now: Micros): boolean {
  return attempts >= BUDGET_ATTEMPTS || now - firstFailedAt >= BUDGET_TIME;
}
