/** Thread batching: new Alerts of a while are told in one reply (delivery §3.1), and the queue of replies keeps a bound. */
import type { Micros } from '../../../runtime/clock.ts';
import type { ReplyCall, ReplyFacts } from './calls.ts';
import { type Delivery, NO_TRIES, type QueuedReply } from './delivery.ts';

/** Replies that wait under one message. Beyond it new Alerts join the last batch, and the oldest Quiet reply goes. */
export const MOST_REPLIES = 200;
/** Alerts that one reply names. */
const MOST_FINGERPRINTS = 1_000;

type Queue = Pick<Delivery, 'replies' | 'windowEnd'>;

/**
 * Adds what an event says to the queue.
 * @param window the Thread batching window of the Route, µs
 */
export function queued(queue: Queue, reply: ReplyCall, now: Micros, window: Micros): Queue {
  if (reply.facts.event !== 'alerts_added')
    return bounded({ ...queue, replies: [...queue.replies, at(reply, now)] });
  const batch = queue.replies.findLast(isBatch);
  const isCollecting = batch !== undefined && window > 0 && batch.due > now;
  if (batch && (isCollecting || queue.replies.length >= MOST_REPLIES))
    return { ...queue, replies: queue.replies.map((one) => (one === batch ? joined(one, reply) : one)) };
  if (now >= queue.windowEnd || window === 0) {
    return bounded({ windowEnd: now + window, replies: [...queue.replies, at(reply, now)] });
  }
  const due = queue.windowEnd;
  return bounded({ windowEnd: due + window, replies: [...queue.replies, at(reply, due)] });
}

/**
 * The reply that goes next: the earliest due, in the order of events among those of one time. A batch waits without
 * holding up what came after it.
 */
export function nextReply(replies: readonly QueuedReply[]): QueuedReply | undefined {
  let first: QueuedReply | undefined;
  for (const reply of replies) if (!first || reply.due < first.due) first = reply;
  return first;
}

function at(reply: ReplyCall, due: Micros): QueuedReply {
  return { ...reply, due, tries: NO_TRIES };
}

function isBatch({ facts }: QueuedReply): boolean {
  return facts.event === 'alerts_added';
}

/** The batch takes the Loudness and Mentions of the loudest event in it. */
function joined(batch: QueuedReply, reply: ReplyCall): QueuedReply {
  const louder = batch.loudness === 'quiet' && reply.loudness === 'loud' ? reply : batch;
  const fingerprints = [...new Set([...fingerprintsOf(batch.facts), ...fingerprintsOf(reply.facts)])];
  return {
    ...batch,
    loudness: louder.loudness,
    mentions: louder.mentions,
    owner: louder.owner,
    facts: { event: 'alerts_added', fingerprints: fingerprints.slice(0, MOST_FINGERPRINTS) },
  };
}

function fingerprintsOf(facts: ReplyFacts): readonly string[] {
  return facts.event === 'alerts_added' ? facts.fingerprints : [];
}

function bounded(queue: Queue): Queue {
  if (queue.replies.length <= MOST_REPLIES) return queue;
  const quiet = queue.replies.findIndex(({ loudness }) => loudness === 'quiet');
  return { ...queue, replies: queue.replies.filter((_, index) => index !== Math.max(0, quiet)) };
}
