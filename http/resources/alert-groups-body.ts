/** Alert Groups as the API answers them (Alert Group chapter §5, api §12). */
import { allowedCommands, type Commander } from '../../actors/alert-group/allowed-commands.ts';
import type { CommandName } from '../../actors/alert-group/messages.ts';
import type { StoredGroup } from '../../actors/alert-group/reading.ts';
import { isUrgent } from '../../actors/alert-group/severity.ts';
import { inKeyOrder } from '../../actors/alert-group/title.ts';
import type { Directory } from '../../actors/directory.ts';
import type { GroupLink } from '../../actors/links/evaluate.ts';
import type { Labels } from '../../actors/model.ts';
import { formatInstant, formatInstantOrNull, SECOND } from '../../runtime/clock.ts';
import type { Identity } from '../operation.ts';
import type { Permission } from '../permissions.ts';
import { actorRef, integrationRef, routeRef, userRef } from './alert-groups-refs.ts';

export const COMMAND_PERMISSIONS = {
  acknowledge: 'alert-groups:acknowledge',
  unacknowledge: 'alert-groups:acknowledge',
  resolve: 'alert-groups:resolve',
  unresolve: 'alert-groups:resolve',
  snooze: 'alert-groups:snooze',
  unsnooze: 'alert-groups:snooze',
  still_on_it: 'alert-groups:acknowledge',
  add_note: 'alert-groups:note',
} as const satisfies Record<CommandName, Permission>;

export function commanderOf(identity: Identity): Commander {
  return {
    userId: identity.kind === 'user' ? identity.id : null,
    may: (command) => identity.permissions.has(COMMAND_PERMISSIONS[command]),
  };
}

export interface BodyContext {
  readonly directory: Directory;
  readonly commander: Commander;
  /** The label columns asked for. */
  readonly labelColumns: readonly string[];
  readonly links: readonly GroupLink[];
}

export function groupBody(group: StoredGroup, { directory, commander, labelColumns, links }: BodyContext) {
  return {
    id: group.id,
    number: group.number,
    title: group.title,
    summary: group.summary,
    status: group.status,
    owner: group.ownerId && userRef(directory, group.ownerId),
    snooze_until: formatInstantOrNull(group.snoozeUntil),
    snoozed_by: group.snoozedBy && actorRef(directory, group.snoozedBy),
    severity_level: group.severityLevel,
    urgent: isUrgent(directory, group.routeId, group.severityLevel),
    route: routeRef(directory, group.routeId),
    integrations: group.integrationIds.map((id) => integrationRef(directory, id)),
    started_at: formatInstant(group.startedAt),
    resolved_at: formatInstantOrNull(group.resolvedAt),
    last_changed_at: formatInstant(group.lastChangedAt),
    reopen_count: group.reopenCount,
    firing_alert_count: group.firingAlertCount,
    resolved_alert_count: group.resolvedAlertCount,
    resolution: resolutionBody(group, directory),
    unclaimed: group.unclaimed,
    next_notice: nextNoticeOf(group),
    delivery_problem: group.deliveryProblem,
    details_removed: group.detailsRemoved,
    group_labels: groupLabelsOf(group, directory),
    common_labels: group.commonLabels,
    common_annotations: group.commonAnnotations,
    label_values: chosenLabels(group.commonLabels, labelColumns),
    notices: noticesOf(group),
    links,
    allowed_commands: allowedCommands(
      {
        status: group.status,
        ownerId: group.ownerId,
        unresolvable: isUnresolvable(group, directory),
        reminderPending: group.reminderPending,
      },
      commander,
    ),
  };
}

/** Storage keeps no order: the labels stand as in the Group key of the Route that the group began on. */
function groupLabelsOf({ groupLabels, originalRouteId }: StoredGroup, directory: Directory): Labels {
  return inKeyOrder(groupLabels, directory.routesById.get(originalRouteId)?.groupKey ?? []);
}

function nextNoticeOf({ status, nextNoticeAt }: StoredGroup) {
  if (nextNoticeAt === null) return null;
  const kind = status === 'acknowledged' ? ('reminder' as const) : ('ack_timeout' as const);
  return { kind, at: formatInstant(nextNoticeAt) };
}

/** Every check of Unresolve passes (§6.3). */
function isUnresolvable(group: StoredGroup, directory: Directory): boolean {
  const live = directory.routesById.get(group.routeId)?.deleted === false;
  return group.inGrace && live && group.newer === null;
}

export function resolutionBody(group: StoredGroup, directory: Directory) {
  if (group.resolvedBy === null) return null;
  return {
    by: group.resolvedBy,
    actor: group.resolver && actorRef(directory, group.resolver),
    reason: group.resolveReason,
    reason_text: group.resolveReasonText,
  };
}

function chosenLabels(labels: Labels, columns: readonly string[]): Labels {
  const chosen = columns.filter((name) => Object.hasOwn(labels, name));
  return Object.fromEntries(chosen.map((name) => [name, labels[name] ?? '']));
}

function noticesOf(group: StoredGroup) {
  const { resolvedBy, firingAlertCount, newer, firesAgainAfter, replacedLabel, detailsKeptDays } = group;
  const notices: Record<string, unknown>[] = [];
  if (resolvedBy === 'user' && firingAlertCount > 0) {
    notices.push({ kind: 'alerts_still_firing', count: firingAlertCount });
  }
  if (newer) notices.push({ kind: 'newer_alert_group_exists', related_alert_group: newer });
  if (firesAgainAfter !== null) {
    notices.push({ kind: 'firing_again_after_manual_resolve', resolved_number: firesAgainAfter });
  }
  if (replacedLabel !== null) notices.push({ kind: 'replacement', label: replacedLabel });
  if (detailsKeptDays !== null) notices.push({ kind: 'details_removed', retention_days: detailsKeptDays });
  return notices;
}

export function relatedBody(group: StoredGroup, directory: Directory) {
  const { startedAt, resolvedAt } = group;
  return {
    id: group.id,
    number: group.number,
    status: group.status,
    started_at: formatInstant(startedAt),
    duration_seconds: resolvedAt === null ? null : Math.floor((resolvedAt - startedAt) / SECOND),
    resolution: resolutionBody(group, directory),
  };
}
