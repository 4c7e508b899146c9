/** What is to be done about one delivery next, and when (delivery §3). Pure. */
import { MINUTE, type Micros } from '../../../runtime/clock.ts';
import { nextReply } from './batching.ts';
import {
  type Delivery,
  isHeld,
  isOpenSubject,
  isOver,
  NO_TRIES,
  type QueuedReply,
  type Tries,
} from './delivery.ts';
import { next } from './machine.ts';
import { isUnseen, recoveredPost } from './machine-parts.ts';

/** `since`: when it came up. Of a message it is when it is due. */
export type Work = { readonly dueAt: Micros; readonly since: Micros } & (
  | { readonly kind: 'publish' }
  | { readonly kind: 'edit' }
  | { readonly kind: 'reply'; readonly reply: QueuedReply }
);

/** Publications before edits before replies of equal time. */
const PLACES = { publish: 0, edit: 1, reply: 2 } as const satisfies Record<Work['kind'], number>;

/**
 * The earliest thing to do; null while nothing is, or a call is under way.
 * @param editsFrom edits wait until then: a person who pressed a button is answered first
 */
export function nextWork(delivery: Delivery, editsFrom: Micros = 0): Work | null {
  if (delivery.call || isOver(delivery) || isHeld(delivery)) return null;
  const root = rootWork(delivery, editsFrom);
  const reply = replyWork(delivery);
  if (!root || !reply) return root ?? reply;
  return reply.dueAt < root.dueAt ? reply : root;
}

export function placeOf({ kind }: Work): number {
  return PLACES[kind];
}

/** The same of the Root message or the first event alone. */
export function rootWork(delivery: Delivery, editsFrom: Micros = 0): Work | null {
  const { root, post, editSince, tries, events } = delivery;
  const [event] = events ?? [];
  // Its time is that of another replica, and says nothing about when it may be sent.
  if (root === 'wanted' && event) {
    return { kind: 'publish', dueAt: tries.notBefore, since: event.occurredAt };
  }
  if (root === 'wanted') return at('publish', Math.max(post?.since ?? 0, tries.notBefore));
  if (root !== 'stale') return null;
  return at('edit', Math.max(editSince ?? 0, tries.notBefore, editsFrom));
}

function at(kind: 'publish' | 'edit', dueAt: Micros): Work {
  return { kind, dueAt, since: dueAt };
}

function replyWork({ message, replies }: Delivery): Work | null {
  const reply = message ? nextReply(replies) : undefined;
  if (!reply) return null;
  const dueAt = Math.max(reply.due, reply.tries.notBefore);
  return { kind: 'reply', dueAt, since: dueAt, reply };
}

/**
 * As Loud as it may be now: a late, repeated or recovered Publication rings for what fires only (delivery §2.1, §7).
 */
export function isLoudNow({ post, status, leaving }: Delivery): boolean {
  if (post?.loudness !== 'loud' || leaving) return false;
  if (status === 'storm') return true;
  return post.again ? status === 'firing' : isOpenSubject({ status });
}

/** Quiet work gives way to Loud work that came up so much later, and to none after that: nothing waits for ever. */
const GIVES_WAY: Micros = 10 * MINUTE;

/** Since when it waits, in the order of calls (delivery §3 rule 6). What rings may wait behind what does not. */
export function waitsSince(delivery: Delivery, work: Work): Micros {
  const { events, replies } = delivery;
  if (events || (work.kind === 'publish' && isLoudNow(delivery))) return work.since;
  const loud = replies.filter(({ loudness }) => loudness === 'loud');
  const rings = loud.map(({ due, tries }) => Math.max(due, tries.notBefore));
  return Math.min(work.since + GIVES_WAY, ...rings);
}

/** A recovery: replies that came due meanwhile are dropped, everything else starts afresh (delivery §7.4). */
export function renewed(delivery: Delivery, now: Micros): Delivery {
  const { post, tries } = delivery;
  const fresh = { ...delivery, renewedAt: now };
  if (delivery.events) {
    // What the receiver asked for outlives a recovery.
    const { notBefore } = tries;
    return { ...fresh, tries: tries.exact ? { ...NO_TRIES, notBefore, exact: true } : NO_TRIES };
  }
  if (isOver(delivery)) return fresh;
  const withheld = next(fresh, { type: 'withhold', now });
  if (isOver(withheld)) return withheld;
  const replies = delivery.replies.filter(({ due }) => due > now);
  const again = {
    post: post && recoveredPost(post),
    tries: { ...NO_TRIES, unsureSince: tries.unsureSince },
  };
  return next({ ...fresh, ...again, replies }, { type: 'replies_dropped', now });
}

/**
 * The waits after its failed attempts are over; its attempts go on counting. What a receiver asked for stays, and so does
 * a wait for what could not be read.
 * @returns the same object when none of its attempts waits
 */
export function withoutPause(delivery: Delivery, now: Micros): Delivery {
  const again = (tries: Tries): Tries => {
    const { attempts, unread, exact, notBefore } = tries;
    return attempts > 0 && unread === 0 && !exact && notBefore > now ? { ...tries, notBefore: 0 } : tries;
  };
  const tries = again(delivery.tries);
  const replies = delivery.replies.map((reply) => ({ ...reply, tries: again(reply.tries) }));
  const isSame = replies.every((reply, index) => reply.tries === delivery.replies[index]?.tries);
  return tries === delivery.tries && isSame ? delivery : { ...delivery, tries, replies };
}

/** Most deliveries wait for nothing, and a recovery changes nothing about them. */
export function needsRenewal(delivery: Delivery): boolean {
  const { post, replies, tries, events } = delivery;
  if (events) return tries !== NO_TRIES;
  if (isOver(delivery)) return false;
  return post !== null || replies.length > 0 || tries.error !== null || isUnseen(delivery);
}
