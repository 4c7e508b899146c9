/** What a recovery of the Destination means for its deliveries (delivery §7.4). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DestinationTurn } from '../turn.ts';
import { type Delivery, stateOf } from './delivery.ts';
import { changeState, save, targetOf } from './turn.ts';
import { needsRenewal, renewed } from './work.ts';

/** Groups that wait here for a message, as far as they are in memory. */
export function waitingGroups(turn: DestinationTurn): PublicId[] {
  const target = targetOf(turn);
  return [...turn.rows.messages.byKey.values()].flatMap((delivery) => {
    const waits = stateOf(delivery) === 'pending' && delivery.target === target;
    return waits && delivery.subject.kind === 'group' ? [delivery.subject.groupId] : [];
  });
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
