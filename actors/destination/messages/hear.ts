/** What an Alert Group tells one delivery, and what becomes of it (delivery §2, §7.2–7.4, §12). Pure. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { GroupEvent, GroupReleased } from '../messages.ts';
import { queued } from './batching.ts';
import type { ReplyCall } from './calls.ts';
import { type Delivery, newDelivery, type Post } from './delivery.ts';
import { formOf } from './forms.ts';
import { changed, mayBeWithheld, over } from './work.ts';

export interface Hearing {
  readonly now: Micros;
  /** The Destination is Broken: nothing but the newest state counts. */
  readonly isBroken: boolean;
  /** Thread batching window of the Route, µs. */
  readonly window: Micros;
  /** Where new messages go. */
  readonly target: number;
  readonly connectionId: PublicId | null;
  /** Publications of the group at earlier targets. */
  readonly publication: number;
}

/** Takes in one lifecycle event. `delivery` is undefined when nothing is known of the group here. */
export function heard(delivery: Delivery | undefined, event: GroupEvent, hearing: Hearing): Delivery {
  const known = told(delivery ?? unjudged(event, hearing), event);
  if (event.event === 'created') return delivery?.ended ? delivery : judged(known, event, hearing);
  const comesBack = event.event === 'reopened' || event.event === 'unresolved';
  if (delivery?.ended) return comesBack ? revived(known, event, hearing) : delivery;
  // Nobody judges a group that was resolved when this Destination got to know of its Route.
  if (!delivery && comesBack) return posted({ ...known, hold: null }, event, 'reopened', hearing);
  return withReply(withRoot(known, event, hearing), event, hearing);
}

/** The Storm is over for this group, or it became Urgent (§12). */
export function released(delivery: Delivery | undefined, message: GroupReleased, hearing: Hearing): Delivery {
  const known = told(delivery ?? unjudged(message, hearing), message);
  if (known.ended || known.hold === null) return known;
  if (known.status === 'resolved') return over(known, { as: 'withheld', because: 'storm' });
  const { loudness } = message;
  const mentions = loudness === 'loud' ? (['new_alert_group'] as const) : [];
  return posted({ ...known, hold: null }, { loudness, mentions }, 'released', hearing);
}

type GroupFacts = Pick<GroupEvent, 'groupId' | 'number' | 'routeId' | 'status' | 'urgent' | 'at'>;

function unjudged(facts: GroupFacts, { target, connectionId, publication, now }: Hearing): Delivery {
  const { groupId, number, routeId, status, urgent, at: changedAt } = facts;
  const subject = { kind: 'group', groupId } as const;
  const place = { subject, target, connectionId, routeId, number, renewedAt: now } as const;
  return { ...newDelivery({ ...place, urgent, status, changedAt, hold: 'unjudged' }), publication };
}

/** What was told may come by way of the Route, later than what the group said since. */
function told(delivery: Delivery, { number, routeId, status, urgent, at }: GroupFacts): Delivery {
  if (at < delivery.changedAt) return delivery;
  return { ...delivery, number: delivery.number ?? number, routeId, status, urgent, changedAt: at };
}

/** The word of the Route. A second one means nothing. */
function judged(delivery: Delivery, event: GroupEvent, hearing: Hearing): Delivery {
  if (delivery.post?.cause === 'joined' && !delivery.call) return judgedLate(delivery, delivery.post, event);
  if (delivery.hold !== 'unjudged') return delivery;
  if (event.judged === 'held') return { ...delivery, hold: 'storm', replies: [] };
  return posted({ ...delivery, hold: null }, event, 'created', hearing);
}

/** It was found among the open groups of a Route just joined, before the Route could tell of it. */
function judgedLate(delivery: Delivery, post: Post, { judged, loudness, mentions }: GroupEvent): Delivery {
  return judged === 'held'
    ? { ...delivery, hold: 'storm', post: null, publication: delivery.publication - 1, replies: [] }
    : { ...delivery, post: { ...post, cause: 'created', loudness, mentions } };
}

/** Withheld because nobody could be reached: what comes back is new. A Storm withholds for good (§12). */
function revived(delivery: Delivery, event: GroupEvent, hearing: Hearing): Delivery {
  const isLost = delivery.ended?.as === 'withheld' && delivery.ended.because === 'broken';
  return isLost ? posted({ ...delivery, ended: null }, event, 'reopened', hearing) : delivery;
}

/** A Root message is wanted. */
export function posted(
  delivery: Delivery,
  { loudness, mentions }: Pick<Post, 'loudness' | 'mentions'>,
  cause: Post['cause'],
  { now, isBroken }: Pick<Hearing, 'now' | 'isBroken'>,
): Delivery {
  const post: Post = { loudness, mentions, cause, again: isBroken, since: now };
  const wanted = { ...delivery, post, publication: delivery.publication + 1 };
  return isBroken && mayBeWithheld(wanted) ? over(wanted, { as: 'withheld', because: 'broken' }) : wanted;
}

function withRoot(delivery: Delivery, event: GroupEvent, { now, isBroken }: Hearing): Delivery {
  if (delivery.hold) return delivery;
  if (isBroken && mayBeWithheld(delivery)) return over(delivery, { as: 'withheld', because: 'broken' });
  return formOf(event).keepsRoot ? delivery : changed(delivery, now);
}

/** Nothing is said under a message that is held, left, or could not be published; nor while nobody can be reached. */
function withReply(delivery: Delivery, event: GroupEvent, { now, isBroken, window }: Hearing): Delivery {
  if (formOf(event).form !== 'reply' || event.facts === null || isBroken) return delivery;
  if (delivery.hold === 'storm' || delivery.leaving || delivery.ended) return delivery;
  if (!delivery.message && delivery.failed !== null) return delivery;
  const { sequence, facts, loudness, mentions, owner } = event;
  const reply: ReplyCall = { sequence, facts, loudness, mentions, owner };
  return { ...delivery, ...queued(delivery, reply, now, window) };
}
