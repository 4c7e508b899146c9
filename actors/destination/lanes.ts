/** Ten requests of a Destination at a time (webhooks §3.2); the rest of those started wait their turn, Urgent first. */
import type { WebhookSend } from './effects.ts';

const AT_ONCE = 10;

export interface Lanes {
  add(effect: WebhookSend): void;
  /** Takes out what has not begun. */
  empty(destinationId: string): readonly WebhookSend[];
}

interface Lane {
  running: number;
  waiting: WebhookSend[];
}

/** @param run makes one request; it never rejects */
export function createLanes(run: (effect: WebhookSend) => Promise<void>): Lanes {
  const lanes = new Map<string, Lane>();

  const begin = (lane: Lane, effect: WebhookSend): void => {
    lane.running++;
    void run(effect).then(() => {
      lane.running--;
      const next = takeFirst(lane.waiting);
      if (next) begin(lane, next);
      else if (lane.running === 0) lanes.delete(effect.destinationId);
    });
  };

  return {
    add(effect) {
      const lane = lanes.get(effect.destinationId) ?? { running: 0, waiting: [] };
      lanes.set(effect.destinationId, lane);
      if (lane.running < AT_ONCE) begin(lane, effect);
      else lane.waiting.push(effect);
    },
    empty(destinationId) {
      return lanes.get(destinationId)?.waiting.splice(0) ?? [];
    },
  };
}

/** They came in the order in which they are to be sent, but for Urgent ones that came later. */
function takeFirst(waiting: WebhookSend[]): WebhookSend | undefined {
  const urgent = waiting.findIndex((effect) => effect.urgent);
  return waiting.splice(Math.max(0, urgent), 1)[0];
}
