/** Messages of Alert Groups and Storms to a Destination (delivery §2, §10, §12). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Subject } from '../../channels/calls.ts';
import type { GroupEvent, GroupReleased, StormTold } from '../messages.ts';
import { type DestinationTurn, isDeleted } from '../turn.ts';
import { applyEvent, released, wished } from './apply-event.ts';
import { bounded, MOST_REPLIES } from './batching.ts';
import { isHeld, isOver, newDelivery } from './delivery.ts';
import { formOf } from './forms.ts';
import { next } from './machine.ts';
import { takesMessages } from './state.ts';
import { isOn, joinOne } from './sweeps.ts';
import { deliveryOf, eventContextOf, save, tell } from './turn.ts';

const TOO_MANY_REPLIES = `more than ${MOST_REPLIES} replies wait under the message`;

export function groupEvent(turn: DestinationTurn, event: GroupEvent): void {
  if (!listens(turn)) return;
  const subject: Subject = { kind: 'group', groupId: event.groupId };
  if (formOf(event).form === 'membership') {
    groupMoved(turn, event, subject);
    return;
  }
  const context = eventContextOf(turn, subject, windowOf(turn, event.routeId));
  const { delivery, dropped } = bounded(
    applyEvent(deliveryOf(turn, subject), event, context, () => isOn(turn, event.routeId)),
  );
  save(turn, delivery);
  if (dropped) tell(turn, delivery, { event: 'not_delivered', error: TOO_MANY_REPLIES });
}

/** It is on the new Route, on the old one, or on both (delivery §10). */
function groupMoved(turn: DestinationTurn, event: GroupEvent, subject: Subject): void {
  const delivery = deliveryOf(turn, subject);
  const { routeId, number, urgent, status, at: changedAt } = event;
  if (!isOn(turn, routeId)) {
    if (delivery) save(turn, next(delivery, { type: 'left', now: turn.now }));
    return;
  }
  if (delivery && !isOver(delivery) && !delivery.leaving) {
    const there = { ...delivery, routeId, number: delivery.number ?? number, changedAt };
    save(turn, isHeld(delivery) ? there : next(there, { type: 'changed', now: turn.now }));
    return;
  }
  joinOne(turn, { subject, routeId, number, urgent, status, changedAt, isHeld: false });
}

export function groupReleased(turn: DestinationTurn, message: GroupReleased): void {
  if (!listens(turn)) return;
  const subject: Subject = { kind: 'group', groupId: message.groupId };
  save(turn, released(deliveryOf(turn, subject), message, eventContextOf(turn, subject, 0)));
}

/** The summary of a Storm: a Loud message, Quiet edits, and a last state that stays (delivery §12). */
export function storm(turn: DestinationTurn, { routeId, since, change, at }: StormTold): void {
  if (!listens(turn)) return;
  const subject: Subject = { kind: 'storm', routeId, since };
  const context = eventContextOf(turn, subject, 0);
  const known = deliveryOf(turn, subject);
  const status = change === 'ended' ? 'storm_over' : 'storm';
  if (!known) {
    const { target, connectionId, now: renewedAt } = context;
    const place = { subject, target, connectionId, routeId, number: null, urgent: false, renewedAt };
    const first = { ...newDelivery({ ...place, status, changedAt: at }), publication: context.publication };
    const mentions = ['new_alert_group'] as const;
    save(turn, wished(first, 'judged_free', { loudness: 'loud', mentions }, context));
    return;
  }
  if (isOver(known) || at < known.changedAt) return;
  save(turn, next({ ...known, status, changedAt: at }, { type: 'changed', now: turn.now }));
}

/** Whether it sends messages, and is not deleted. */
export function listens(turn: DestinationTurn): boolean {
  const { place } = turn.state.messages;
  return place !== null && takesMessages(place) && !isDeleted(turn);
}

function windowOf({ directory }: DestinationTurn, routeId: PublicId): Micros {
  const policy = directory.routesById.get(routeId)?.policy;
  return (policy?.thread_batching_window_seconds ?? 0) * SECOND;
}
