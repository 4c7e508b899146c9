/** Events mode: which events of an Alert Group wait here, in order, and what ends them (webhooks §3). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { LifecycleEventName } from '../model.ts';
import { type Delivery, type Flight, NO_TRIES, type QueuedEvent } from './delivery/delivery.ts';
import { next } from './delivery/machine.ts';
import { takesMessages } from './delivery/state.ts';
import { save } from './delivery/turn.ts';
import { noticeDeliveredSend, publishedSend } from './delivery-reports.ts';
import { recovered } from './health.ts';
import type { EventRecorded } from './messages.ts';
import { hasRoomFor, lineOf, newLine, noteEnded, park } from './rows.ts';
import {
  apply,
  DELETED_ERROR,
  type DestinationTurn,
  isBroken,
  isDeleted,
  isProbe,
  LEFT_EVENTS_ERROR,
  note,
  recordProgress,
} from './turn.ts';

/**
 * Events whose delivery is reported to their Alert Group: one that was not delivered counts as answered
 * (alert-groups §8.2).
 */
const REMINDERS: readonly LifecycleEventName[] = ['reminder', 'notices_missed'];

export function eventRecorded(turn: DestinationTurn, message: EventRecorded): void {
  const { eventId: id, groupId, sequence, event, urgent, occurredAt } = message;
  const { rows, now } = turn;
  if (rows.fromStorage.delete(id)) return;
  const queued: QueuedEvent = { id, sequence, event, urgent, occurredAt, calls: 0 };
  if (!takesEvents(turn)) {
    recordEnd(turn, groupId, queued, leftError(turn));
    return;
  }
  const isAlone = rows.events === 0;
  if (hasRoomFor(rows, groupId)) {
    save(turn, next(lineOf(rows, groupId) ?? newLine(groupId), { type: 'recorded', event: queued, now }));
    rows.events++;
  } else park(rows, groupId, queued, now);
  if (!isBroken(turn)) return;
  // With nothing else waiting, the next event is the probe the moment it is recorded.
  if (isAlone) apply(turn, { type: 'first_event', at: now });
  if (rows.troubled.has(groupId)) return;
  const error = turn.state.snapshot.context.reason;
  note(turn, { groupId, event: 'destination_broken', error, problem: true });
}

/** The receiver answered 2xx to the first event. */
export function eventTaken(turn: DestinationTurn, line: Delivery, { isProbe: wasProbe }: Flight): void {
  const { rows, now } = turn;
  const { groupId, event } = firstOf(line);
  save(turn, next(line, { type: 'event_taken', now }));
  noteEnded(rows, groupId, event, now);
  recordProgress(turn, event, line.tries, { state: 'delivered', nextAttemptAt: null, error: null });
  if (!rows.published.has(groupId)) {
    rows.published.add(groupId);
    turn.sends.push(publishedSend(groupId, now));
  }
  if (REMINDERS.includes(event.event)) {
    turn.sends.push(noticeDeliveredSend({ groupId, sequence: event.sequence }, now));
  }
  if (wasProbe) recovered(turn);
  // A group that still waits here is notified with the others.
  if (lineOf(rows, groupId) && (wasProbe || isBroken(turn))) return;
  note(turn, { groupId, event: wasProbe ? 'destination_recovered' : null, error: null, problem: false });
}

/** Ends the first event, which can never succeed. While Broken it was the probe, and the next one is the next probe. */
export function eventNotDelivered(turn: DestinationTurn, line: Delivery, error: string): void {
  const { groupId, event } = firstOf(line);
  save(turn, next(line, { type: 'not_delivered', error, now: turn.now }));
  noteEnded(turn.rows, groupId, event, turn.now);
  recordEnd(turn, groupId, event, error);
  if (isProbe(turn, event.id)) apply(turn, { type: 'probe_rejected', at: turn.now });
}

/** The event ended in storage before its call was made: it leaves the line, and the next one follows. */
export function eventDropped(turn: DestinationTurn, line: Delivery): void {
  const { groupId, event } = firstOf(line);
  save(turn, next(line, { type: 'not_delivered', error: leftError(turn), now: turn.now }));
  noteEnded(turn.rows, groupId, event, turn.now);
  if (isProbe(turn, event.id)) apply(turn, { type: 'probe_rejected', at: turn.now });
}

/**
 * False once it is deleted, or both its place and the configuration say that it gets messages. One of the two alone
 * may be newer than the event.
 */
function takesEvents(turn: DestinationTurn): boolean {
  const { place } = turn.state.messages;
  if (isDeleted(turn)) return false;
  return !turn.config || !place || !takesMessages(place) || !takesMessages(turn.config);
}

function leftError(turn: DestinationTurn): string {
  return isDeleted(turn) ? DELETED_ERROR : LEFT_EVENTS_ERROR;
}

/** Ends events that were loaded although the Destination takes none. */
export function endLeftEvents(turn: DestinationTurn): void {
  const { rows } = turn;
  if ((rows.events > 0 || rows.overflow) && !takesEvents(turn)) endEvents(turn, leftError(turn));
}

function recordEnd(turn: DestinationTurn, groupId: PublicId, event: QueuedEvent, error: string): void {
  recordProgress(turn, event, NO_TRIES, { state: 'not_delivered', nextAttemptAt: null, error });
  note(turn, { groupId, event: 'not_delivered', error, problem: true });
}

/**
 * Everything that waits ends, in memory and in storage, where a commit beside the save or deletion may have added some.
 */
export function endEvents(turn: DestinationTurn, error: string): void {
  const { rows, now } = turn;
  for (const line of [...rows.messages.byKey.values()]) {
    if (!line.events || line.subject.kind !== 'group') continue;
    const { groupId } = line.subject;
    for (const _ of line.events) note(turn, { groupId, event: 'not_delivered', error, problem: true });
    save(turn, next({ ...line, call: null }, { type: 'given_up', error, now }));
  }
  rows.events = 0;
  rows.tails.clear();
  rows.parked.clear();
  rows.overflow = false;
  rows.urgentParked = false;
  turn.records.push({ type: 'webhook.events_ended', destinationId: turn.id, error, at: now });
}

function firstOf({ subject, events }: Delivery): { readonly groupId: PublicId; readonly event: QueuedEvent } {
  const [event] = events ?? [];
  if (!event || subject.kind !== 'group') throw new Error('no event waits here');
  return { groupId: subject.groupId, event };
}
