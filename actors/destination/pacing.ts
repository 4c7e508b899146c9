/** How fast a Destination is called: calls at a time, waits (delivery §3; webhooks §3.4). */
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { LimitedCall, Limiter } from './limiter.ts';

const FEWEST_STARTED = 10;
const MOST_STARTED = 40;
/** Calls started ahead are worth at most this much of the limiter's rate. */
const AHEAD_SECONDS = 0.04;

/** Calls that may be started ahead of those that are under way. A slow limiter allows none. */
export function callsAhead({ limit, per_seconds: seconds }: Limiter): number {
  return Math.floor((limit / seconds) * AHEAD_SECONDS);
}

/**
 * How many calls may be started at once. Ten requests of a Destination are under way together (webhooks §3.2); a fast
 * one is given a few more, so that the next request does not wait for the commit that starts it. A slow one gets none
 * ahead: they would go out faster than its limiter allows.
 */
export function mostStarted(limiter: Limiter): number {
  return Math.min(MOST_STARTED, Math.max(FEWEST_STARTED, callsAhead(limiter)));
}

/** A call without an outcome for this long is lost. Longer than the calls take that may be started together. */
export const CALL_LOST_AFTER: Micros = 60 * SECOND;
/** Its end is told, by its outcome or when it is taken for lost. */
export const TOLD_CALL: LimitedCall = { longest: CALL_LOST_AFTER, isEndTold: true };

/** How long an event waits after a transient failure, and when its budget is spent (webhooks §3.4). Pure. */
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

/** What waits in a lane. */
export interface LaneCall {
  readonly destinationId: PublicId;
  readonly urgent: boolean;
  /** Calls of the Destination under way together. */
  readonly atOnce: number;
}

export interface Lanes<Call extends LaneCall> {
  add(call: Call): void;
  /** Takes out those of them that have not begun. */
  takeOut(which: (call: Call) => boolean): readonly Call[];
}

interface Lane<Call> {
  running: number;
  waiting: Call[];
}

/** @param run makes one call, and is told which ones wait behind it in their order; it never rejects */
export function createLanes<Call extends LaneCall>(
  run: (call: Call, following: () => readonly Call[]) => Promise<void>,
): Lanes<Call> {
  const lanes = new Map<string, Lane<Call>>();

  const begin = (lane: Lane<Call>, call: Call): void => {
    lane.running++;
    void run(call, () => lane.waiting).then(() => {
      lane.running--;
      const next = takeFirst(lane.waiting);
      if (next) begin(lane, next);
      else if (lane.running === 0) lanes.delete(call.destinationId);
    });
  };

  return {
    add(call) {
      const lane = lanes.get(call.destinationId) ?? { running: 0, waiting: [] };
      lanes.set(call.destinationId, lane);
      if (lane.running < call.atOnce) begin(lane, call);
      else lane.waiting.push(call);
    },
    takeOut(which) {
      const taken: Call[] = [];
      for (const lane of lanes.values()) {
        const kept: Call[] = [];
        for (const call of lane.waiting) (which(call) ? taken : kept).push(call);
        lane.waiting = kept;
      }
      return taken;
    },
  };
}

/** They came in the order in which they are to be sent, but for Urgent ones that came later. */
function takeFirst<Call extends LaneCall>(waiting: Call[]): Call | undefined {
  const urgent = waiting.findIndex((call) => call.urgent);
  return waiting.splice(Math.max(0, urgent), 1)[0];
}
