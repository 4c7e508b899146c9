/** Alert Groups, Alerts and Timeline entries as the API answers them (alert-groups §5, api §12). */
import { allowedCommands, type Commander } from '../../../actors/alert-group/commands/allowed-commands.ts';
import type { CommandName } from '../../../actors/alert-group/messages.ts';
import { inKeyOrder, isUrgent } from '../../../actors/alert-group/reading/alert-summary.ts';
import type { Folds, StoredAlert, StoredGroup } from '../../../actors/alert-group/reading/readers.ts';
import {
  type LifecycleEntry,
  type NoteEntry,
  type OutageEntry,
  reasonOf,
  resolveReasonText,
  type TemplateEntry,
  type TimelineEntry,
} from '../../../actors/alert-group/reading/timeline.ts';
import type { Directory } from '../../../actors/directory.ts';
import type { GroupLink } from '../../../actors/links/evaluate.ts';
import type { EventActor, Labels, Principal, UserRef } from '../../../actors/model.ts';
import { formatInstant, formatInstantOrNull, SECOND } from '../../../runtime/clock.ts';
import type { Identity } from '../../operation.ts';
import type { Permission } from '../../permissions.ts';

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
    alerts_started_at: formatInstantOrNull(group.alertsStartedAt),
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

/** Every check of Unresolve passes (alert-groups §6.3). */
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

/** References to people and things inside answers: present names where the Directory knows them (api §2). */
export function routeRef(directory: Directory, id: string) {
  return { id, name: directory.routesById.get(id)?.name ?? id };
}

export function integrationRef(directory: Directory, id: string) {
  return { id, name: directory.integrationsById.get(id)?.name ?? id };
}

/** A User by id; `recorded` fills in for one that the Directory does not know. */
export function userRef(directory: Directory, id: string, recorded?: UserRef) {
  const user = directory.usersById.get(id);
  return {
    id,
    name: user?.name ?? recorded?.name ?? id,
    login: user?.login ?? recorded?.login ?? id,
    deactivated: user?.status === 'deleted',
  };
}

function actorRef(directory: Directory, principal: Principal) {
  if (principal.kind === 'user') return { kind: 'user', ...userRef(directory, principal.id, principal) };
  return { kind: 'service_account', id: principal.id, name: principal.name, deactivated: false };
}

/** The actor of a Timeline entry. */
function eventActor(directory: Directory, actor: EventActor) {
  if (actor.kind === 'system') return { kind: 'system', reason: actor.reason };
  const common = { id: actor.id, token_name: actor.tokenName, transport: actor.transport };
  if (actor.kind === 'service_account') return { kind: actor.kind, ...common, name: actor.name, login: null };
  const { name, login } = userRef(directory, actor.id, actor);
  return { kind: actor.kind, ...common, name, login };
}

/** Alerts, Timeline entries and Notes as the API answers them (alert-groups §5.1, api §12). */
export function alertBody(alert: StoredAlert, directory: Directory) {
  const { report } = alert;
  const integration = integrationRef(directory, alert.integrationId);
  const reason = alert.resolvedBy && reasonOf(alert.resolvedBy);
  return {
    fingerprint: report.fingerprint,
    integration,
    labels: report.labels,
    annotations: report.annotations,
    state: alert.state,
    resolve_reason: reason,
    resolve_reason_text: reason ? resolveReasonText(reason, integration.name) : movedText(alert),
    starts_at: formatInstant(alert.startsAt),
    resolved_at: formatInstantOrNull(alert.resolvedAt),
    last_seen_at: formatInstant(alert.lastSeenAt),
    alertmanager_groups: alert.senderGroups,
    source_url: report.generatorUrl,
  };
}

function movedText({ movedToNumber }: StoredAlert): string | null {
  return movedToNumber === null ? null : `moved to #${movedToNumber}`;
}

export function noteBody(note: NoteEntry, directory: Directory) {
  if (note.actor.kind === 'system') throw new Error(`the Note ${note.id} has no author`);
  return {
    id: note.id,
    body: note.body,
    author: actorRef(directory, note.actor),
    transport: note.actor.transport,
    created_at: formatInstant(note.at),
  };
}

export function entryBody(entry: TimelineEntry, directory: Directory): Record<string, unknown> {
  const common = {
    id: entry.id,
    at: formatInstant(entry.at),
    kind: entry.kind,
    actor: eventActor(directory, entry.actor),
  };
  if (entry.kind === 'delivery') {
    const { deliveryEvent, destination, loudness = 'quiet', mentions = [], error } = entry;
    return {
      ...common,
      delivery_event: deliveryEvent,
      destination,
      loudness,
      mentions,
      error,
    };
  }
  if (!('event' in entry)) return { ...common, ...systemFields(entry) };
  const { event, loudness, mentions, sequence } = entry;
  return { ...common, event, loudness, mentions, sequence, ...ownFields(entry, directory) };
}

function ownFields(entry: LifecycleEntry, directory: Directory) {
  switch (entry.kind) {
    case 'status': {
      const { owner, previousOwner } = entry;
      return {
        from_status: entry.fromStatus,
        to_status: entry.toStatus,
        owner: owner && userRef(directory, owner.id, owner),
        previous_owner: previousOwner && userRef(directory, previousOwner.id, previousOwner),
        snooze_until: formatInstantOrNull(entry.snoozeUntil),
        ...toldFields(entry),
      };
    }
    case 'alerts':
      return { replaced_label: entry.replacedLabel, ...toldFields(entry) };
    case 'notes':
      return { note: noteBody(entry, directory) };
    case 'timers':
      return { notice_number: entry.noticeNumber, missed_count: entry.missedCount };
    case 'system':
      return { system_event: entry.systemEvent, period_from: null, period_to: null, detail: null };
  }
}

function systemFields(entry: OutageEntry | TemplateEntry) {
  const { systemEvent } = entry;
  if ('detail' in entry) {
    return { system_event: systemEvent, period_from: null, period_to: null, detail: entry.detail };
  }
  const { periodFrom, periodTo } = entry;
  return {
    system_event: systemEvent,
    period_from: formatInstant(periodFrom),
    period_to: formatInstant(periodTo),
    detail: null,
  };
}

function toldFields(entry: Extract<TimelineEntry, { kind: 'status' | 'alerts' }>) {
  return {
    reason: entry.reason,
    reason_text: entry.reasonText,
    fingerprints: entry.fingerprints,
    label_conflicts: entry.labelConflicts,
    from_severity_level: entry.fromSeverityLevel,
    to_severity_level: entry.toSeverityLevel,
  };
}

/** An answer about folds (alert-groups §10.2). */
export function foldsBody(folds: Folds) {
  return {
    items: folds.items.map((fold) => ({
      value: fold.value,
      alert_group_count: fold.groupCount,
      firing_count: fold.firingCount,
      severity_level: fold.severityLevel,
      last_started_at: formatInstant(fold.lastStartedAt),
      distinct: Object.fromEntries(fold.distinct.map(({ label, count }) => [label, count])),
    })),
    fold_count: folds.foldCount,
    alert_group_count: folds.groupCount,
    truncated: folds.truncated,
  };
}
