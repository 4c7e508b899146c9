/** What configuration and delivery do to an Alert Group (alert-groups §3.3, routes §8, ingestion §8). */
import { endFirings } from './ingestion/firings.ts';
import { remindersOf } from './machine-parts.ts';
import type {
  DeliveryNoted,
  Downtime,
  IntegrationDeleted,
  MoveReply,
  NoticeDelivered,
  OwnerReleased,
  RouteMoved,
  TemplateNoted,
} from './messages.ts';
import { OWNER_RELEASE_TEXT } from './reading/timeline.ts';
import { firingAlerts } from './rows.ts';
import { contextOf, isOpen } from './state.ts';
import type { GroupTurn } from './turn.ts';

/** Every Alert of a deleted Integration resolves. */
export function endIntegration(turn: GroupTurn, { integrationId, at }: IntegrationDeleted): void {
  const concerned = firingAlerts(turn.rows).filter((alert) => alert.integrationId === integrationId);
  const endings = concerned.map((alert) => ({
    alert,
    resolver: 'integration_deleted' as const,
    startsAt: null,
  }));
  endFirings(turn, endings, at);
}

/** Releases the ownership of a User who is no longer active, now and for a later Reopen. */
export function releaseOwner(turn: GroupTurn, { userId, reason }: Omit<OwnerReleased, 'type'>): void {
  const { owner, prior } = contextOf(turn.group);
  const owns = owner?.id === userId;
  const wouldOwn = prior?.status === 'acknowledged' && prior.owner.id === userId;
  if (!owns && !wouldOwn) return;
  turn.step(
    { type: 'owner_released', at: turn.now, userId },
    { kind: 'system', reason },
    { reason, reasonText: OWNER_RELEASE_TEXT[reason] },
  );
}

/** Moves an open group to another Route; a group that resolved in the meantime is not moved. The reply states which. */
export function moveToRoute(turn: GroupTurn, { fromRouteId, toRouteId }: RouteMoved): void {
  const moved = isOpen(turn.group) && contextOf(turn.group).routeId === fromRouteId;
  turn.reply = { moved } satisfies MoveReply;
  if (!moved) return;
  turn.step({ type: 'move', at: turn.now, toRouteId }, { kind: 'system', reason: 'route_moved' });
}

/** A Reminder that was not delivered does not count as unanswered. One delivered after the next Reminder is ignored. */
export function noteNoticeDelivered(turn: GroupTurn, { sequence }: NoticeDelivered): void {
  const reminders = remindersOf(contextOf(turn.group));
  if (reminders?.sequence !== sequence || reminders.delivered) return;
  turn.settle({ type: 'reminder_delivered', at: turn.now, sequence });
}

/** Records a downtime of the service in the Timeline of an open group. */
export function noteDowntime(turn: GroupTurn, { from, to }: Downtime): void {
  if (!isOpen(turn.group)) return;
  const actor = { kind: 'system', reason: 'downtime' } as const;
  turn.settle({ type: 'downtime', at: turn.now });
  turn.hint();
  turn.record({
    type: 'timeline.added',
    groupId: turn.groupId,
    entry: {
      id: turn.randomId('TE'),
      at: turn.now,
      actor,
      kind: 'system',
      systemEvent: 'service_unavailable',
      periodFrom: from,
      periodTo: to,
    },
  });
}

/** Not a lifecycle event, because the message was sent. */
export function noteTemplate(turn: GroupTurn, { event, detail, at }: TemplateNoted): void {
  turn.show();
  turn.record({
    type: 'timeline.added',
    groupId: turn.groupId,
    entry: {
      id: turn.randomId('TE'),
      at,
      actor: { kind: 'system', reason: 'delivery' },
      kind: 'system',
      systemEvent: event,
      detail,
    },
  });
}

/** A delivery entry of the Timeline, and whether the Destination has a problem with this group now. */
export function noteDelivery(turn: GroupTurn, noted: DeliveryNoted): void {
  const { destinationId, destinationName, event, error, problem, at } = noted;
  const others = turn.group.troubledDestinations.filter((id) => id !== destinationId);
  const hadProblem = others.length < turn.group.troubledDestinations.length;
  if (problem !== null && hadProblem !== problem) {
    turn.amend({ troubledDestinations: problem ? [...others, destinationId] : others });
  }
  if (event === null) return;
  turn.show();
  turn.record({
    type: 'timeline.added',
    groupId: turn.groupId,
    entry: {
      id: turn.randomId('DE'),
      at,
      actor: { kind: 'system', reason: 'delivery' },
      kind: 'delivery',
      deliveryEvent: event,
      destination: { id: destinationId, name: destinationName },
      loudness: noted.loudness ?? 'quiet',
      mentions: noted.mentions ?? [],
      error,
    },
  });
}
