/** How many calls about messages are begun: those that a messenger is asked at once, and some ahead of them. */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { callsAhead } from '../limiter.ts';
import type { DestinationTurn } from '../turn.ts';
import type { Flight } from './delivery.ts';
import type { MessageRows } from './rows.ts';

/** Calls of a messenger Destination under way at once (delivery §3.6); its sender keeps to it. */
export const CALLS_AT_ONCE = 4;
const MOST_BEGUN = 40;
/** Nothing is begun much sooner than it is made: from its commit to its answer no call should take longer than this. */
const QUICK: Micros = SECOND / 2;

/**
 * How many calls may be begun and not over. While answers come quickly some are begun ahead, so that a messenger does not
 * wait for the commit that begins each. One that knows no keys gets none: after a crash each would be repeated as if it
 * had been made.
 */
export function mostBegun({ state, rows, limiter }: DestinationTurn): number {
  if (state.messages.place?.type !== 'bridge') return CALLS_AT_ONCE;
  return Math.max(CALLS_AT_ONCE, Math.min(rows.messages.pace, callsAhead(limiter)));
}

/** One more with each quick answer; half as many when one took long or did not come. */
export function learnPace(rows: MessageRows, { startedAt }: Flight, at: Micros, isAnswered: boolean): void {
  const isQuick = isAnswered && at - startedAt <= QUICK;
  rows.pace = isQuick
    ? Math.min(MOST_BEGUN, rows.pace + 1)
    : Math.max(CALLS_AT_ONCE, Math.floor(rows.pace / 2));
}
