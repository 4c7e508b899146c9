/** The Destination becomes Broken and recovers: who is notified, what is reset (delivery §7.4, webhooks §3.5). */
import { type Delivery, deliveryKey, stateOf } from './delivery/delivery.ts';
import { hold } from './delivery/rows.ts';
import { takesMessages } from './delivery/state.ts';
import { addPass, changeState, noteGroup, save, targetOf } from './delivery/turn.ts';
import { needsRenewal, renewed, withoutPause } from './delivery/work.ts';
import type { DestinationEvent } from './machine.ts';
import { waitingGroups } from './rows.ts';
import { announce, apply, callSucceeded, type DestinationTurn, isBroken, note } from './turn.ts';

export function broke(turn: DestinationTurn, reason: string): void {
  if (isBroken(turn)) {
    apply(turn, { type: 'broke', reason, at: turn.now });
    return;
  }
  apply(turn, { type: 'broke', reason, at: turn.now });
  announce(turn, { change: 'destination_broken', reason });
  tellWaiting(turn, 'destination_broken');
  tellAllHealth(turn);
}

/** @param by a probe, or a check or test that a person started */
export function recovered(
  turn: DestinationTurn,
  by: Extract<DestinationEvent['type'], 'probe_succeeded' | 'worked'> = 'probe_succeeded',
): void {
  const { reason } = turn.state.snapshot.context;
  callSucceeded(turn);
  apply(turn, { type: by, at: turn.now });
  announce(turn, { change: 'destination_recovered', reason });
  turn.records.push({ type: 'webhook.budgets_renewed', destinationId: turn.id, at: turn.now });
  tellWaiting(turn, 'destination_recovered');
  tellAllHealth(turn);
  messagesRecovered(turn);
}

/** A restart while groups are being notified begins again: a group may be notified twice, but never missed. */
export function resumeTelling(turn: DestinationTurn): void {
  const { telling } = turn.state;
  if (!telling) return;
  tellWaiting(turn, telling);
  tellLoadedHealth(turn);
}

/** Notifies every group whose events wait in memory. */
function tellWaiting(turn: DestinationTurn, event: 'destination_broken' | 'destination_recovered'): void {
  const problem = event === 'destination_broken';
  const error = problem ? turn.state.snapshot.context.reason : null;
  for (const groupId of waitingGroups(turn.rows)) note(turn, { groupId, event, error, problem });
  turn.state = { ...turn.state, telling: event };
}

/** What waits after failed attempts need not wait on: whatever they failed at may be over (delivery §7.1). */
export function tryAgain(turn: DestinationTurn): void {
  for (const delivery of [...turn.rows.messages.byKey.values()]) {
    const isLeftBehind = !delivery.events && delivery.target < targetOf(turn);
    if (!isLeftBehind) save(turn, withoutPause(delivery, turn.now));
  }
}

export function unavailable(error: string): string {
  return `unavailable: ${error}`;
}

/** Notifies every group with a waiting delivery of the present health: those in memory first, the others page by page. */
function tellAllHealth(turn: DestinationTurn): void {
  tellLoadedHealth(turn);
  const { place } = turn.state.messages;
  if (place && takesMessages(place)) addPass(turn, 'tell', null);
}

/** Notifies the groups whose deliveries are in memory. */
function tellLoadedHealth(turn: DestinationTurn): void {
  const { byKey, told } = turn.rows.messages;
  told.clear();
  for (const delivery of byKey.values()) if (!delivery.events) tellHealth(turn, delivery);
}

/** @param stored as it was read; the one in memory is newer */
export function tellHealth(turn: DestinationTurn, stored: Delivery): void {
  const { byKey, told } = turn.rows.messages;
  const key = deliveryKey(stored);
  const delivery = byKey.get(key) ?? stored;
  const { subject, target } = delivery;
  const waits = stateOf(delivery) === 'pending' && target === targetOf(turn);
  if (!waits || subject.kind !== 'group' || told.has(key)) return;
  told.add(key);
  if (isBroken(turn)) {
    const error = turn.state.snapshot.context.reason;
    noteGroup(turn, subject.groupId, { event: 'destination_broken', error }, true);
  } else noteGroup(turn, subject.groupId, { event: 'destination_recovered' }, false);
}

function messagesRecovered(turn: DestinationTurn): void {
  changeState(turn, { recoveredAt: turn.now, probe: null });
  for (const delivery of [...turn.rows.messages.byKey.values()]) renew(turn, delivery);
}

/** Deliveries that were not in memory during the recovery get their fresh budget when they are read. */
export function renewIfOld(turn: DestinationTurn, delivery: Delivery): void {
  if (delivery.renewedAt < turn.state.messages.recoveredAt) renew(turn, delivery);
}

function renew(turn: DestinationTurn, delivery: Delivery): void {
  if (!needsRenewal(delivery)) return;
  const fresh = renewed(delivery, turn.state.messages.recoveredAt);
  // Of events one record tells all.
  if (delivery.events) hold(turn.rows.messages, fresh, turn.now);
  else save(turn, fresh);
}
