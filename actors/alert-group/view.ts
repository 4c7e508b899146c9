/** An Alert Group as the outside is told about it after a step: the webhook's view and the list row. */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory } from '../directory.ts';
import type { AlertView, GroupView } from '../lifecycle.ts';
import type { GroupRow } from './effects.ts';
import { reasonOf } from './reasons.ts';
import type { GroupAlert, GroupRows } from './rows.ts';
import { isUrgent } from './severity.ts';
import { contextOf, isInGrace, isUnclaimed, type StartedGroup, statusOf } from './state.ts';

/** The body's `alert_group` and `alerts` (webhooks §3.3). */
export function groupView(
  id: PublicId,
  state: StartedGroup,
  rows: GroupRows,
  directory: Directory,
): GroupView {
  const { portrait } = state;
  const { routeId, owner, startedAt, resolvedAt, snooze, reopenCount } = contextOf(state);
  return {
    id,
    title: portrait.title,
    summary: portrait.summary,
    status: statusOf(state),
    owner,
    routeId,
    routeName: directory.routesById.get(routeId)?.name ?? '',
    urgent: isUrgent(directory, routeId, portrait.severityLevel),
    severityLevel: portrait.severityLevel,
    startedAt,
    resolvedAt,
    snoozeUntil: snooze?.until ?? null,
    reopenCount,
    alerts: alertViews(rows.values()),
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
    firstPublishedAt: context.firstPublishedAt,
    firingAgainAfter: state.firingAgainAfter,
    replacedLabel: state.replacedLabel,
    runbookUrl: portrait.runbookUrl,
    dashboardUrl: portrait.dashboardUrl,
    sourceUrl: portrait.sourceUrl,
  };
}
