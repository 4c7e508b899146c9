/** Applies messages of an Alert Group to one delivery (delivery §2, §7.2 to §7.4, §12). Pure. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { ReplyCall } from '../../channels/calls.ts';
import type { GroupEvent, GroupReleased } from '../messages.ts';
import { queued } from './batching.ts';
import { type Delivery, newDelivery, type Post } from './delivery.ts';
import { formOf } from './forms.ts';
import { changed, mayBeWithheld, over } from './work.ts';

/** What the Destination adds to a message of a group. */
export interface EventContext {
  readonly now: Micros;
  /** The Destination is Broken: only the newest state is kept, replies are dropped. */
  readonly isBroken: boolean;
  /** Thread batching window of the Route, µs. */
  readonly window: Micros;
  /** Where new messages go. */
  readonly target: number;
  readonly connectionId: PublicId | null;
  /** Publications of the group at earlier targets. */
  readonly publication: number;
}

/** Applies one lifecycle event. `delivery` is undefined when the Destination has none of the group. */
export function applyEvent(
  delivery: Delivery | undefined,
  event: GroupEvent,
  context: EventContext,
): Delivery {
  const known = told(delivery ?? unjudged(event, context), event);
  if (event.event === 'created') return delivery?.ended ? delivery : judged(known, event, context);
  const comesBack = event.event === 'reopened' || event.event === 'unresolved';
  if (delivery?.ended) return comesBack ? revived(known, event, context) : delivery;
  // The group was resolved when the Destination joined its Route, so no storm decision will arrive.
  if (!delivery && comesBack) return posted({ ...known, hold: null }, event, 'reopened', context);
  return withReply(withRoot(known, event, context), event, context);
}

/** The Storm is over for this group, or it became Urgent (delivery §12). */
export function released(
  delivery: Delivery | undefined,
  message: GroupReleased,
  context: EventContext,
): Delivery {
  const known = told(delivery ?? unjudged(message, context), message);
  if (known.ended || known.hold === null) return known;
  if (known.status === 'resolved') return over(known, { as: 'withheld', because: 'storm' });
  const { loudness } = message;
  const mentions = loudness === 'loud' ? (['new_alert_group'] as const) : [];
  return posted({ ...known, hold: null }, { loudness, mentions }, 'released', context);
}

type GroupFacts = Pick<GroupEvent, 'groupId' | 'number' | 'routeId' | 'status' | 'urgent' | 'at'>;

function unjudged(facts: GroupFacts, { target, connectionId, publication, now }: EventContext): Delivery {
  const { groupId, number, routeId, status, urgent, at: changedAt } = facts;
  const subject = { kind: 'group', groupId } as const;
  const place = { subject, target, connectionId, routeId, number, renewedAt: now } as const;
  return { ...newDelivery({ ...place, urgent, status, changedAt, hold: 'unjudged' }), publication };
}

/** Ignores the facts of a message that arrives late, through the Route, after newer ones of the group. */
function told(delivery: Delivery, { number, routeId, status, urgent, at }: GroupFacts): Delivery {
  if (at < delivery.changedAt) return delivery;
  return { ...delivery, number: delivery.number ?? number, routeId, status, urgent, changedAt: at };
}

/** The Route's storm decision. Idempotent: a repeated decision is ignored. */
function judged(delivery: Delivery, event: GroupEvent, context: EventContext): Delivery {
  if (delivery.post?.cause === 'joined' && !delivery.call) return judgedLate(delivery, delivery.post, event);
  if (delivery.hold !== 'unjudged') return delivery;
  if (event.judged === 'held') return { ...delivery, hold: 'storm', replies: [] };
  return posted({ ...delivery, hold: null }, event, 'created', context);
}

/** The group was found when the Destination joined the Route, before the Route's message arrived. */
function judgedLate(delivery: Delivery, post: Post, { judged, loudness, mentions }: GroupEvent): Delivery {
  return judged === 'held'
    ? { ...delivery, hold: 'storm', post: null, publication: delivery.publication - 1, replies: [] }
    : { ...delivery, post: { ...post, cause: 'created', loudness, mentions } };
}

/** Withheld while the Destination was Broken: published as new on recovery. A Storm withholds for good (delivery §12). */
function revived(delivery: Delivery, event: GroupEvent, context: EventContext): Delivery {
  const isLost = delivery.ended?.as === 'withheld' && delivery.ended.because === 'broken';
  return isLost ? posted({ ...delivery, ended: null }, event, 'reopened', context) : delivery;
}

/** A Root message is wanted. */
export function posted(
  delivery: Delivery,
  { loudness, mentions }: Pick<Post, 'loudness' | 'mentions'>,
  cause: Post['cause'],
  { now, isBroken }: Pick<EventContext, 'now' | 'isBroken'>,
): Delivery {
  const post: Post = { loudness, mentions, cause, again: isBroken, since: now };
  const wanted = { ...delivery, post, publication: delivery.publication + 1 };
  return isBroken && mayBeWithheld(wanted) ? over(wanted, { as: 'withheld', because: 'broken' }) : wanted;
}

function withRoot(delivery: Delivery, event: GroupEvent, { now, isBroken }: EventContext): Delivery {
  if (delivery.hold) return delivery;
  if (isBroken && mayBeWithheld(delivery)) return over(delivery, { as: 'withheld', because: 'broken' });
  return formOf(event).keepsRoot ? delivery : changed(delivery, now);
}

/** No reply under a message that is held, left or unpublished, nor while the Destination is Broken. */
function withReply(delivery: Delivery, event: GroupEvent, { now, isBroken, window }: EventContext): Delivery {
  if (formOf(event).form !== 'reply' || event.facts === null || isBroken) return delivery;
  if (delivery.hold === 'storm' || delivery.leaving || delivery.ended) return delivery;
  if (!delivery.message && delivery.failed !== null) return delivery;
  const { sequence, facts, loudness, mentions, owner } = event;
  const reply: ReplyCall = { sequence, facts, loudness, mentions, owner };
  return { ...delivery, ...queued(delivery, reply, now, window) };
}
