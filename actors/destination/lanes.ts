/** So many calls of a Destination at a time (delivery §3.6, webhooks §3.2); the rest of those started wait their turn, Urgent first. */
import type { PublicId } from '../../runtime/public-id.ts';

/** What waits in a lane. */
export interface LaneCall {
  readonly destinationId: PublicId;
  readonly urgent: boolean;
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

/** @param run makes one call; it never rejects */
export function createLanes<Call extends LaneCall>(
  atOnce: number,
  run: (call: Call) => Promise<void>,
): Lanes<Call> {
  const lanes = new Map<string, Lane<Call>>();

  const begin = (lane: Lane<Call>, call: Call): void => {
    lane.running++;
    void run(call).then(() => {
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
      if (lane.running < atOnce) begin(lane, call);
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
