/** What a step leaves to read: list row, webhook view, Timeline entry, change of status, Alerts listed again. */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Directory } from '../../directory.ts';
import type { AlertView, EventActor, GroupView, LifecycleEvent, LifecycleEventName } from '../../model.ts';
import type { AlertsSeen, GroupRow, StatusChanged } from '../effects.ts';
import type { GroupContext } from '../machine-types.ts';
import { type GroupAlert, type GroupRows, groupBy } from '../rows.ts';
import { contextOf, isInGrace, isUnclaimed, type StartedGroup, statusOf } from '../state.ts';
import { sentOf } from '../timers/timers.ts';
import type { TimelineKind } from '../transitions.ts';
import { isUrgent } from './alert-summary.ts';
import { completeDetails, type LifecycleEntry, reasonOf, type StepDetails } from './timeline.ts';

/** The body's `alert_group` and `alerts` (webhooks §3.3). */
export function groupView(
  id: PublicId,
  state: StartedGroup,
  rows: GroupRows,
  directory: Directory,
): GroupView {
  const { portrait } = state;
  return {
    id,
    title: portrait.title,
    summary: portrait.summary,
    ...statusView(state, directory),
    severityLevel: portrait.severityLevel,
    alerts: alertViews(rows.values()),
  };
}

/** What a lifecycle event may change besides the Alerts: status, Owner, Snooze, Route, and the times of both ends. */
export function statusView(
  state: StartedGroup,
  directory: Directory,
): Omit<GroupView, 'id' | 'title' | 'summary' | 'severityLevel' | 'alerts'> {
  const { routeId, owner, startedAt, resolvedAt, snooze, reopenCount } = contextOf(state);
  return {
    status: statusOf(state),
    owner,
    routeId,
    routeName: directory.routesById.get(routeId)?.name ?? '',
    urgent: isUrgent(directory, routeId, state.portrait.severityLevel),
    startedAt,
    resolvedAt,
    snoozeUntil: snooze?.until ?? null,
    reopenCount,
  };
}

/** Firing first, then by start and fingerprint. */
export function alertViews(alerts: Iterable<GroupAlert>): readonly AlertView[] {
  return [...alerts].map(alertView).sort(firingFirst);
}

function alertView({ report, state, startsAt, resolvedAt, resolvedBy }: GroupAlert): AlertView {
  return {
    fingerprint: report.fingerprint,
    state,
    labels: report.labels,
    annotations: report.annotations,
    startsAt,
    resolvedAt,
    resolveReason: resolvedBy && reasonOf(resolvedBy),
    generatorUrl: report.generatorUrl,
  };
}

function firingFirst(left: AlertView, right: AlertView): number {
  if (left.state !== right.state) return left.state === 'firing' ? -1 : 1;
  return left.startsAt - right.startsAt || (left.fingerprint < right.fingerprint ? -1 : 1);
}

/** The row of the list, complete. */
export function groupRow(id: PublicId, state: StartedGroup): GroupRow {
  const { portrait, slot } = state;
  const context = contextOf(state);
  const { resolution, snooze } = context;
  return {
    id,
    number: state.number,
    title: portrait.title,
    summary: portrait.summary,
    status: statusOf(state),
    routeId: context.routeId,
    originalRouteId: context.originalRouteId,
    keyHash: slot.keyHash,
    groupLabels: slot.groupLabels,
    commonLabels: portrait.commonLabels,
    commonAnnotations: portrait.commonAnnotations,
    integrationIds: portrait.integrationIds,
    severityLevel: portrait.severityLevel,
    ownerId: context.owner?.id ?? null,
    snoozedBy: snooze?.by ?? null,
    snoozeUntil: snooze?.until ?? null,
    startedAt: context.startedAt,
    resolvedAt: context.resolvedAt,
    lastChangedAt: state.lastChangedAt,
    resolvedBy: resolution?.by ?? null,
    resolver: resolution?.by === 'user' ? resolution.actor : null,
    resolveReason: resolution?.by === 'system' ? resolution.reason : null,
    resolveReasonText: resolution?.by === 'system' ? resolution.reasonText : null,
    reopenCount: context.reopenCount,
    firingAlertCount: portrait.firingCount,
    resolvedAlertCount: portrait.resolvedCount,
    unclaimed: isUnclaimed(state),
    nextNoticeAt: context.noticeAt,
    reminderPending: context.reminders?.pending ?? false,
    deliveryProblem: state.troubledDestinations.length > 0,
    inGrace: isInGrace(state),
    firstAcknowledgedAt: context.firstAcknowledgedAt,
    firstAcknowledgedBy: context.firstAcknowledgedBy ?? null,
    firstPublishedAt: context.firstPublishedAt,
    firingAgainAfter: state.firingAgainAfter,
    replacedLabel: state.replacedLabel,
    alertsStartedAt: portrait.alertsStartedAt ?? null,
    runbookUrl: portrait.runbookUrl,
    dashboardUrl: portrait.dashboardUrl,
    sourceUrl: portrait.sourceUrl,
  };
}

/** The Timeline entry of one lifecycle event (alert-groups §5.1). */
export interface EntryInput {
  readonly id: PublicId;
  readonly event: LifecycleEvent;
  readonly kind: TimelineKind;
  /** Null for `created`. */
  readonly before: StartedGroup | null;
  readonly after: StartedGroup;
  readonly details: StepDetails;
}

export function entryOf({ id, event, kind, before, after, details }: EntryInput): LifecycleEntry {
  const { name, loudness, mentions, sequence, at, actor } = event;
  const common = { id, at, actor, event: name, loudness, mentions, sequence };
  switch (kind) {
    case 'status': {
      const { replacedLabel: _, ...told } = completeDetails(details);
      const { owner, snooze } = contextOf(after);
      const ownerBefore = before && contextOf(before).owner;
      return {
        ...common,
        ...told,
        kind,
        fromStatus: before && statusOf(before),
        toStatus: statusOf(after),
        owner,
        previousOwner: ownerBefore && ownerBefore.id !== owner?.id ? ownerBefore : null,
        snoozeUntil: snooze?.until ?? null,
      };
    }
    case 'alerts':
      return { ...common, ...completeDetails(details), kind };
    case 'notes':
      return { ...common, kind, body: details.note?.body ?? '' };
    case 'timers':
      return { ...common, kind, ...noticesOf(name, contextOf(after), before && contextOf(before)) };
    case 'system':
      return { ...common, kind, systemEvent: 'moved_to_default_route' };
    default:
      throw new Error(`no transition records an entry of the kind ${kind}`);
  }
}

/** The number of the notice, or the count of notices that one event stands for. */
function noticesOf(event: LifecycleEventName, after: GroupContext, before: GroupContext | null) {
  const sent = sentOf(after);
  const isNotice = event === 'ack_timeout' || event === 'reminder';
  const missed = event === 'notices_missed' && before ? sent - sentOf(before) : null;
  return { noticeNumber: isNotice ? sent : null, missedCount: missed };
}

/** A change of status as it is logged and measured after the commit. */
export interface RecordedStep {
  readonly groupId: PublicId;
  /** Null for `created`. */
  readonly before: StartedGroup | null;
  readonly after: StartedGroup;
  readonly actor: EventActor;
  readonly details: StepDetails;
  /** Of the step, µs. */
  readonly at: Micros;
}

/** Null for a step that left the status as it was. */
export function statusChange({
  groupId,
  before,
  after,
  actor,
  details,
  at,
}: RecordedStep): StatusChanged | null {
  const from = before && statusOf(before);
  const to = statusOf(after);
  if (from === to) return null;
  const { routeId, startedAt, reopenCount, firstAcknowledgedAt } = contextOf(after);
  const earlier = before && contextOf(before);
  const isFirst = firstAcknowledgedAt !== null && earlier?.firstAcknowledgedAt === null;
  return {
    type: 'group.status_changed',
    groupId,
    routeId,
    from,
    to,
    reason: details.reason ?? null,
    transport: actor.kind === 'system' ? null : actor.transport,
    reopened: earlier !== null && reopenCount > earlier.reopenCount,
    timeToAcknowledge: isFirst ? at - startedAt : null,
    timeToResolve: to === 'resolved' ? at - startedAt : null,
  };
}

/** One record an Integration. */
export function alertsSeen(groupId: PublicId, seen: readonly GroupAlert[]): AlertsSeen[] {
  const byIntegration = groupBy(seen, ({ integrationId }) => integrationId);
  return [...byIntegration].map(([integrationId, alerts]) => ({
    type: 'alerts.seen',
    groupId,
    integrationId,
    fingerprints: alerts.map(({ report }) => report.fingerprint),
    at: Math.max(...alerts.map(({ lastSeenAt }) => lastSeenAt)),
  }));
}
