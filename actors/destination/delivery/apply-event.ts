/** Applies messages of an Alert Group, and a Destination's joining of a Route, to one delivery (delivery §2, §10, §12). Pure. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { ReplyCall, Subject } from '../../channels/calls.ts';
import type { GroupEvent, GroupReleased } from '../messages.ts';
import { queued } from './batching.ts';
import { type Delivery, isOver, newDelivery, type Post } from './delivery.ts';
import { formOf } from './forms.ts';
import { next } from './machine.ts';

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

/**
 * Applies one lifecycle event. `delivery` is undefined when the Destination has none of the group.
 * @param isOn whether the Destination is on the Route of the event: one that left it is told of nothing anew
 */
export function applyEvent(
  delivery: Delivery | undefined,
  event: GroupEvent,
  context: EventContext,
  isOn: () => boolean,
): Delivery {
  const comesBack = event.event === 'reopened' || event.event === 'unresolved';
  const known = told(withoutLate(delivery ?? unjudged(event, context), comesBack), event);
  if (event.event === 'created')
    return delivery && isOver(delivery) ? delivery : judged(known, event, context);
  if (delivery && isOver(delivery)) {
    return comesBack && isOn() ? wished(known, 'reopened', event, context) : delivery;
  }
  // The group was resolved when the Destination joined its Route, so no storm decision will arrive.
  if (comesBack && (!delivery || delivery.root === 'held.unjudged')) {
    return wished({ ...known, replies: [] }, 'reopened', event, context);
  }
  // It was resolved when the Destination came back to its Route, and is again to be seen there.
  const here = comesBack && known.leaving && isOn() ? wished(known, 'joined', QUIET, context) : known;
  return withReply(withRoot(here, event, context), event, context);
}

/** The Storm is over for this group, or it became Urgent (delivery §12). */
export function released(
  delivery: Delivery | undefined,
  message: GroupReleased,
  context: EventContext,
): Delivery {
  const known = told(delivery ?? unjudged(message, context), message);
  const { loudness } = message;
  const mentions = loudness === 'loud' ? (['new_alert_group'] as const) : [];
  return wished(known, 'released', { loudness, mentions }, context);
}

type GroupFacts = Pick<GroupEvent, 'groupId' | 'number' | 'routeId' | 'status' | 'urgent' | 'at'>;

function unjudged(facts: GroupFacts, { target, connectionId, publication, now }: EventContext): Delivery {
  const { groupId, number, routeId, status, urgent, at: changedAt } = facts;
  const subject = { kind: 'group', groupId } as const;
  const place = { subject, target, connectionId, routeId, number, renewedAt: now } as const;
  return { ...newDelivery({ ...place, urgent, status, changedAt }), publication };
}

/** Ignores the facts of a message that arrives late, through the Route, after newer ones of the group. */
function told(delivery: Delivery, { number, routeId, status, urgent, at }: GroupFacts): Delivery {
  if (at < delivery.changedAt) return delivery;
  return { ...delivery, number: delivery.number ?? number, routeId, status, urgent, changedAt: at };
}

/** A late message names the end of its group, which one that opens again no longer has (delivery §9). */
function withoutLate(delivery: Delivery, comesBack: boolean): Delivery {
  const { notes } = delivery;
  return comesBack && notes.late ? { ...delivery, notes: { ...notes, late: false } } : delivery;
}

/** The Route's storm decision. Idempotent: a repeated decision is ignored. */
function judged(delivery: Delivery, event: GroupEvent, context: EventContext): Delivery {
  if (event.judged === 'held') return next(delivery, { type: 'judged_held', now: context.now });
  return wished(delivery, 'judged_free', event, context);
}

/** A Root message is wanted, where the statechart says so. What nobody saw is not published while Broken. */
export function wished(
  delivery: Delivery,
  type: 'judged_free' | 'released' | 'joined' | 'reopened',
  { loudness, mentions, owner = null }: Pick<Post, 'loudness' | 'mentions' | 'owner'>,
  { now, isBroken }: Pick<EventContext, 'now' | 'isBroken'>,
): Delivery {
  const wanted = next(delivery, { type, loudness, mentions, owner, isBroken, now });
  return isBroken && wanted !== delivery ? next(wanted, { type: 'withhold', now }) : wanted;
}

function withRoot(delivery: Delivery, event: GroupEvent, { now, isBroken }: EventContext): Delivery {
  const still = isBroken ? next(delivery, { type: 'withhold', now }) : delivery;
  return formOf(event).keepsRoot ? still : next(still, { type: 'changed', now });
}

/** No reply under a message that is held, left or unpublished, nor while the Destination is Broken. */
function withReply(delivery: Delivery, event: GroupEvent, { now, isBroken, window }: EventContext): Delivery {
  if (formOf(event).form !== 'reply' || event.facts === null || isBroken) return delivery;
  if (delivery.root === 'held.storm' || delivery.leaving || isOver(delivery)) return delivery;
  if (!delivery.message && delivery.root === 'not_delivered') return delivery;
  const { sequence, at, facts, loudness, mentions, owner } = event;
  const reply: ReplyCall = { sequence, at, facts, loudness, mentions, owner };
  return next({ ...delivery, ...queued(delivery, reply, now, window) }, { type: 'reply_queued', now });
}

const QUIET = { loudness: 'quiet', mentions: [] } as const;

/** An open group, or a Storm, of a Route that this Destination is on from now on. */
export type Joining = Pick<Delivery, 'routeId' | 'number' | 'urgent' | 'status' | 'changedAt'> & {
  readonly subject: Subject;
  readonly isHeld: boolean;
};

/** One that is here is left as it is; one that was on its way out stays; others are published Quietly, or held. */
export function joined(delivery: Delivery | undefined, joining: Joining, context: EventContext): Delivery {
  const { subject, routeId, number, urgent, status, changedAt, isHeld } = joining;
  const { target, connectionId, publication, now } = context;
  const place = { subject, target, connectionId, routeId, number, renewedAt: now };
  const known = delivery
    ? { ...delivery, routeId, number: delivery.number ?? number }
    : { ...newDelivery({ ...place, urgent, status, changedAt }), publication };
  const wanted = wished(known, 'joined', QUIET, context);
  const after = isHeld ? next(wanted, { type: 'judged_held', now }) : wanted;
  return delivery && after === known ? delivery : after;
}
