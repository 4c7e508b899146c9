/** Alerts, Timeline entries and Notes as the API answers them (Alert Group chapter §5.1, api §12). */
import type { StoredAlert } from '../../actors/alert-group/reading.ts';
import { reasonOf, resolveReasonText } from '../../actors/alert-group/reasons.ts';
import type {
  LifecycleEntry,
  NoteEntry,
  OutageEntry,
  TemplateEntry,
  TimelineEntry,
} from '../../actors/alert-group/timeline.ts';
import type { Directory } from '../../actors/directory.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import { actorRef, eventActor, integrationRef, userRef } from './alert-groups-refs.ts';

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
