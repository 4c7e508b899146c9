/** Thread batching: new Alerts within a window share one reply (delivery §3.1). The queue of replies is bounded. */
import type { Micros } from '../../../runtime/clock.ts';
import type { ReplyCall, ReplyFacts } from '../../channels/calls.ts';
import { type Delivery, NO_TRIES, type QueuedReply } from './delivery.ts';

/** Replies that wait under one message; {@link bounded} says what gives room for one more. */
export const MOST_REPLIES = 200;
/** Alerts that a batch names: the first ones. */
const MOST_FINGERPRINTS = 1_000;

type Queue = Pick<Delivery, 'replies' | 'windowEnd'>;

/**
 * Queues the reply of an event; call {@link bounded} afterwards.
 * @param window the Thread batching window of the Route, µs
 */
export function queued(queue: Queue, reply: ReplyCall, now: Micros, window: Micros): Queue {
  if (reply.facts.event !== 'alerts_added') return { ...queue, replies: [...queue.replies, at(reply, now)] };
  const batch = queue.replies.findLast(isBatch);
  if (batch && window > 0 && batch.due > now)
    return { ...queue, replies: queue.replies.map((one) => (one === batch ? joined(one, reply) : one)) };
  if (now >= queue.windowEnd || window === 0) {
    return { windowEnd: now + window, replies: [...queue.replies, at(reply, now)] };
  }
  const due = queue.windowEnd;
  return { windowEnd: due + window, replies: [...queue.replies, at(reply, due)] };
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
function joined(batch: QueuedReply, reply: Omit<ReplyCall, 'at'>): QueuedReply {
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

interface Bounded<Kept> {
  readonly delivery: Kept;
  /** Ends Not delivered. */
  readonly dropped: QueuedReply | null;
}

/**
 * Makes room in a queue with one reply too many (delivery §3.1): the newest two batches become one, which loses nothing;
 * without two batches the oldest Quiet reply is dropped, and without a Quiet one the oldest. The reply whose call is in
 * flight stays, and a batch that may have arrived names what it named.
 */
export function bounded<Kept extends Pick<Delivery, 'replies' | 'call'>>(delivery: Kept): Bounded<Kept> {
  if (delivery.replies.length <= MOST_REPLIES) return { delivery, dropped: null };
  const { call } = delivery;
  const idle = delivery.replies.filter((one) => call?.kind !== 'reply' || one.sequence !== call.sequence);
  const batches = idle.filter((one) => isBatch(one) && one.tries.unsureSince === null);
  const [older, newer] = batches.slice(-2);
  if (older && newer) {
    const replies = delivery.replies.filter((one) => one !== newer);
    const merged = replies.map((one) => (one === older ? joined(older, newer) : one));
    return { delivery: { ...delivery, replies: merged }, dropped: null };
  }
  const dropped = idle.find(({ loudness }) => loudness === 'quiet') ?? idle[0] ?? null;
  return { delivery: { ...delivery, replies: delivery.replies.filter((one) => one !== dropped) }, dropped };
}
