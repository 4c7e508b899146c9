/** What it means for its deliveries that a Destination becomes Broken or recovers (delivery §7.4). */
import { type DestinationTurn, isBroken } from '../turn.ts';
import { type Delivery, deliveryKey, stateOf } from './delivery.ts';
import { addPass } from './planned-sweeps.ts';
import { takesMessages } from './state.ts';
import { changeState, noteGroup, save, targetOf } from './turn.ts';
import { needsRenewal, renewed } from './work.ts';

/** Every group that waits here hears how the Destination is now: those in memory first, the others page by page. */
export function tellAllHealth(turn: DestinationTurn): void {
  tellLoadedHealth(turn);
  const { place } = turn.state.messages;
  if (place && takesMessages(place)) addPass(turn, 'tell', null);
}

/** The same, as far as they are in memory. */
export function tellLoadedHealth(turn: DestinationTurn): void {
  const { byKey, told } = turn.rows.messages;
  told.clear();
  for (const delivery of byKey.values()) tellHealth(turn, delivery);
}

/** @param stored as it was read; what is in memory is newer */
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

export function messagesRecovered(turn: DestinationTurn): void {
  changeState(turn, { recoveredAt: turn.now, probe: null });
  for (const delivery of [...turn.rows.messages.byKey.values()]) renew(turn, delivery);
}

/** What was in storage during the recovery is renewed when it is read. */
export function renewIfOld(turn: DestinationTurn, delivery: Delivery): void {
  if (delivery.renewedAt < turn.state.messages.recoveredAt) renew(turn, delivery);
}

function renew(turn: DestinationTurn, delivery: Delivery): void {
  if (needsRenewal(delivery)) save(turn, renewed(delivery, turn.state.messages.recoveredAt));
}
