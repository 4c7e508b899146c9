/** Effect of a Storm on an Alert Group: its Publication is held and released (alert-groups §9). */
import { type GroupCreated, type GroupUnheld, routeAddress } from '../route/messages.ts';
import { isUrgent } from './reading/alert-summary.ts';
import { contextOf, isMoved, isOpen } from './state.ts';
import type { GroupTurn } from './turn.ts';

const BY_DELIVERY = { kind: 'system', reason: 'delivery' } as const;

/** In the step of `created`: the Route judges before anything is posted. */
export function tellRouteOfCreation(turn: GroupTurn): void {
  const { groupId } = turn;
  const { routeId, startedAt: at } = contextOf(turn.group);
  const message: GroupCreated = { type: 'group_created', groupId, urgent: isUrgentNow(turn), at };
  turn.send({ to: routeAddress(routeId), message });
}

/** The Route's storm decision; it may arrive after the next step of the group. */
export function hold(turn: GroupTurn): void {
  turn.step({ type: 'hold', at: turn.now }, BY_DELIVERY);
}

/** A group that was resolved while held is withheld permanently; Destinations read that from its state. */
export function release(turn: GroupTurn): void {
  if (!contextOf(turn.group).held) return;
  turn.step({ type: 'release', at: turn.now }, BY_DELIVERY);
  turn.announceRelease('quiet');
}

/**
 * Ends the hold of a group that became Urgent, by a raised severity or by an edited setting, or that was moved to
 * another Route. Called at the end of every turn.
 */
export function endHoldThatMayNotBe(turn: GroupTurn): void {
  if (turn.state.stage === 'unstarted' || !contextOf(turn.group).held) return;
  const becameUrgent = isOpen(turn.group) && isUrgentNow(turn);
  if (!becameUrgent && !isMoved(turn.group)) return;
  release(turn);
  if (becameUrgent) turn.announceRelease('loud');
  const message: GroupUnheld = { type: 'group_unheld', groupId: turn.groupId, becameUrgent };
  turn.send({ to: routeAddress(contextOf(turn.group).originalRouteId), message });
}

function isUrgentNow({ group, directory }: GroupTurn): boolean {
  return isUrgent(directory, contextOf(group).routeId, group.portrait.severityLevel);
}
