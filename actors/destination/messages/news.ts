/** What a Destination hears of Alert Groups and Storms (delivery §2, §10, §12). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { GroupEvent, GroupReleased, StormTold } from '../messages.ts';
import { type DestinationTurn, isDeleted } from '../turn.ts';
import type { Subject } from './calls.ts';
import { newDelivery } from './delivery.ts';
import { formOf } from './forms.ts';
import { heard, posted, released } from './hear.ts';
import { left } from './membership.ts';
import { takesMessages } from './state.ts';
import { isOn, joinOne } from './sweeps.ts';
import { deliveryOf, hearingOf, save } from './turn.ts';
import { changed } from './work.ts';

export function groupEvent(turn: DestinationTurn, event: GroupEvent): void {
  if (!listens(turn)) return;
  const subject: Subject = { kind: 'group', groupId: event.groupId };
  if (formOf(event).form === 'membership') {
    groupMoved(turn, event, subject);
    return;
  }
  save(
    turn,
    heard(deliveryOf(turn, subject), event, hearingOf(turn, subject, windowOf(turn, event.routeId))),
  );
}

/** It is on the new Route, on the old one, or on both (§10). */
function groupMoved(turn: DestinationTurn, event: GroupEvent, subject: Subject): void {
  const delivery = deliveryOf(turn, subject);
  const { routeId, number, urgent, status, at: changedAt } = event;
  if (!isOn(turn, routeId)) {
    if (delivery) save(turn, left(delivery, turn.now));
    return;
  }
  if (delivery && !delivery.ended && !delivery.leaving) {
    const there = { ...delivery, routeId, number: delivery.number ?? number, changedAt };
    save(turn, delivery.hold ? there : changed(there, turn.now));
    return;
  }
  joinOne(turn, { subject, routeId, number, urgent, status, changedAt, isHeld: false });
}

export function groupReleased(turn: DestinationTurn, message: GroupReleased): void {
  if (!listens(turn)) return;
  const subject: Subject = { kind: 'group', groupId: message.groupId };
  save(turn, released(deliveryOf(turn, subject), message, hearingOf(turn, subject, 0)));
}

/** The summary of a Storm: a Loud message, Quiet edits, and a last state that stays (§12). */
export function storm(turn: DestinationTurn, { routeId, since, change, at }: StormTold): void {
  if (!listens(turn)) return;
  const subject: Subject = { kind: 'storm', routeId, since };
  const hearing = hearingOf(turn, subject, 0);
  const known = deliveryOf(turn, subject);
  const status = change === 'ended' ? 'storm_over' : 'storm';
  if (!known) {
    const { target, connectionId, now: renewedAt } = hearing;
    const place = { subject, target, connectionId, routeId, number: null, urgent: false, renewedAt };
    const first = newDelivery({ ...place, status, changedAt: at, hold: null });
    const mentions = ['new_alert_group'] as const;
    save(
      turn,
      posted(
        { ...first, publication: hearing.publication },
        { loudness: 'loud', mentions },
        'created',
        hearing,
      ),
    );
    return;
  }
  if (known.ended || at < known.changedAt) return;
  save(turn, changed({ ...known, status, changedAt: at }, turn.now));
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
