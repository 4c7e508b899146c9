/** What is to be done about one delivery next, and when (delivery §3). Pure. */
import type { Micros } from '../../../runtime/clock.ts';
import { nextReply } from './batching.ts';
import { type Delivery, isOpenSubject, NO_TRIES, type QueuedReply } from './delivery.ts';

export type Work =
  | { readonly kind: 'publish'; readonly dueAt: Micros }
  | { readonly kind: 'edit'; readonly dueAt: Micros }
  | { readonly kind: 'reply'; readonly dueAt: Micros; readonly reply: QueuedReply };

/** Publications before edits before replies of equal time. */
const PLACES = { publish: 0, edit: 1, reply: 2 } as const satisfies Record<Work['kind'], number>;

/**
 * The earliest thing to do; null while nothing is, or a call is under way.
 * @param editsFrom edits wait until then: a person who pressed a button is answered first
 */
export function nextWork(delivery: Delivery, editsFrom: Micros = 0): Work | null {
  if (delivery.call || delivery.ended || delivery.hold) return null;
  const root = rootWork(delivery, editsFrom);
  const reply = replyWork(delivery);
  if (!root || !reply) return root ?? reply;
  return reply.dueAt < root.dueAt ? reply : root;
}

export function placeOf({ kind }: Work): number {
  return PLACES[kind];
}

function rootWork({ post, editSince, failed, message, tries }: Delivery, editsFrom: Micros): Work | null {
  if (post) return failed === null ? { kind: 'publish', dueAt: Math.max(post.since, tries.notBefore) } : null;
  if (!message || editSince === null) return null;
  return { kind: 'edit', dueAt: Math.max(editSince, tries.notBefore, editsFrom) };
}

function replyWork({ message, replies }: Delivery): Work | null {
  const reply = message ? nextReply(replies) : undefined;
  return reply ? { kind: 'reply', dueAt: Math.max(reply.due, reply.tries.notBefore), reply } : null;
}

/** Whether the message is past its edit window at `now`, a margin before the messenger refuses. */
export function isPastWindow({ frozen, message }: Delivery, now: Micros): boolean {
  return frozen || (message?.editableUntil != null && now > message.editableUntil);
}

/**
 * Nothing edits the message any more (delivery §9 rule 3). What it does not show yet is published anew when the status is
 * another one.
 */
export function frozen(delivery: Delivery, now: Micros): Delivery {
  if (!delivery.message) return delivery;
  const still = { ...delivery, frozen: true, editSince: null, tries: NO_TRIES };
  if (delivery.leaving) return retired(still);
  return delivery.status === delivery.message.status ? still : continued(still, now);
}

/** The next change of status of a frozen message. */
export function continued(delivery: Delivery, now: Micros): Delivery {
  if (delivery.post) return delivery;
  const post = { loudness: 'quiet', mentions: [], cause: 'continued', again: false, since: now } as const;
  const notes = { late: false, deletedAt: null, continued: true };
  return { ...delivery, post, notes, publication: delivery.publication + 1, failed: null, tries: NO_TRIES };
}

export function retired(delivery: Delivery): Delivery {
  return over(delivery, { as: 'retired' });
}

/** Nothing is done about it any more. */
export function over(delivery: Delivery, ended: NonNullable<Delivery['ended']>): Delivery {
  const done = {
    post: null,
    editSince: null,
    leaving: false,
    failed: null,
    tries: NO_TRIES,
    replies: [],
    hold: null,
  };
  return { ...delivery, ...done, ended };
}

/**
 * What shows on the Root message may have changed. A message that cannot be edited waits for a change of status; what
 * failed before starts afresh.
 */
export function changed(delivery: Delivery, now: Micros): Delivery {
  const fresh = delivery.failed === null ? delivery : startedAfresh(delivery);
  const { message, call, post, leaving } = fresh;
  if (leaving) return fresh;
  if (call && call.kind !== 'reply') return { ...fresh, editSince: fresh.editSince ?? now };
  if (!message || post) return fresh;
  if (isPastWindow(fresh, now)) {
    return fresh.frozen && fresh.status === message.status ? fresh : frozen(fresh, now);
  }
  return { ...fresh, editSince: fresh.editSince ?? now };
}

function startedAfresh(delivery: Delivery): Delivery {
  const { post } = delivery;
  return {
    ...delivery,
    failed: null,
    tries: { ...NO_TRIES, unsureSince: delivery.tries.unsureSince },
    post: post && { ...post, again: true },
  };
}

/**
 * As Loud as it may be now: a late, repeated or recovered Publication rings for what fires only (delivery §2.1, §7).
 */
export function isLoudNow({ post, status, leaving }: Delivery): boolean {
  if (post?.loudness !== 'loud' || leaving) return false;
  if (status === 'storm') return true;
  return post.again ? status === 'firing' : isOpenSubject({ status });
}

/** Resolved before it was ever published, with nothing visible in the messenger. */
export function mayBeWithheld({ status, message, call, tries, republished }: Delivery): boolean {
  const isUnseen = !message && !republished && !call && tries.unsureSince === null;
  return status === 'resolved' && isUnseen;
}

/** A recovery: replies that came due meanwhile are dropped, everything else starts afresh (delivery §7.4). */
export function renewed(delivery: Delivery, now: Micros): Delivery {
  const { hold, ended, post, tries } = delivery;
  const fresh = { ...delivery, renewedAt: now };
  if (ended) return fresh;
  if (!hold && mayBeWithheld(delivery)) return over(fresh, { as: 'withheld', because: 'broken' });
  return {
    ...fresh,
    post: post && { ...post, again: true },
    tries: { ...NO_TRIES, unsureSince: tries.unsureSince },
    replies: delivery.replies.filter(({ due }) => due > now),
  };
}

/** Most deliveries wait for nothing, and a recovery changes nothing about them. */
export function needsRenewal(delivery: Delivery): boolean {
  const { ended, post, replies, tries } = delivery;
  if (ended) return false;
  return post !== null || replies.length > 0 || tries.error !== null || mayBeWithheld(delivery);
}
