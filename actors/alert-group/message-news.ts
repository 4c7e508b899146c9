/** Lifecycle events for Destinations of messages: announced with the change itself (delivery §2). */
import type { Send } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { ReplyFacts } from '../destination/messages/calls.ts';
import { concernsMessages } from '../destination/messages/forms.ts';
import { takesMessages } from '../destination/messages/state.ts';
import { destinationAddress, type GroupEvent, type GroupReleased } from '../destination/messages.ts';
import type { Directory } from '../directory.ts';
import type { LifecycleEvent } from '../lifecycle.ts';
import type { Loudness } from '../model.ts';
import { isUrgent } from './severity.ts';
import { contextOf, type StartedGroup, statusOf } from './state.ts';
import type { AlertsEntry, LifecycleEntry, StatusEntry, TimerEntry } from './timeline.ts';
import { ACK_NOTICES } from './timers.ts';

/** Destinations of messages on some Routes, each once. */
export function messageDestinations(routeIds: readonly PublicId[], directory: Directory): PublicId[] {
  const ids = new Set(routeIds.flatMap((id) => directory.routesById.get(id)?.destinationIds ?? []));
  return [...ids].filter((id) => {
    const destination = directory.destinationsById.get(id);
    return destination !== undefined && takesMessages(destination);
  });
}

export interface News {
  readonly groupId: PublicId;
  readonly event: LifecycleEvent;
  readonly entry: LifecycleEntry;
  readonly after: StartedGroup;
}

/** What the messages of a group are told of one event; none of what no message shows, or the Route tells. */
export function groupEvent({ groupId, event, entry, after }: News, directory: Directory): GroupEvent | null {
  const { name, loudness, mentions, sequence, at, actor, ownerBefore: owner } = event;
  const by = actor.kind === 'system' ? 'system' : 'person';
  const status = statusOf(after);
  if (name === 'created' || !concernsMessages({ event: name, loudness, status, by })) return null;
  const about = {
    groupId,
    ...standing(after, directory),
    event: name,
    sequence,
    at,
    loudness,
    mentions,
    owner,
    by,
  } as const;
  return { type: 'group_event', ...about, facts: factsOf(entry, after) };
}

/** To every Destination of messages of the present Route: the group is held back no more. */
export function releaseSends(
  groupId: PublicId,
  after: StartedGroup,
  { loudness, at }: { readonly loudness: Loudness; readonly at: Micros },
  directory: Directory,
): Send[] {
  const message: GroupReleased = {
    type: 'group_released',
    groupId,
    ...standing(after, directory),
    loudness,
    at,
  };
  const ids = messageDestinations([contextOf(after).routeId], directory);
  return ids.map((id) => ({ to: destinationAddress(id), message }));
}

function standing(after: StartedGroup, directory: Directory) {
  const { routeId } = contextOf(after);
  const urgent = isUrgent(directory, routeId, after.portrait.severityLevel);
  return { number: after.number, routeId, status: statusOf(after), urgent } as const;
}

/** What a reply about it would tell. */
function factsOf(entry: LifecycleEntry, after: StartedGroup): ReplyFacts | null {
  switch (entry.kind) {
    case 'alerts':
      return alertsFacts(entry);
    case 'status':
      return statusFacts(entry, after);
    case 'timers':
      return timerFacts(entry, after);
    default:
      return null;
  }
}

function alertsFacts({ event, fingerprints, replacedLabel }: AlertsEntry): ReplyFacts | null {
  if (event === 'alerts_added') return { event, fingerprints };
  if (event === 'alert_replaced') return { event, label: replacedLabel ?? '' };
  return null;
}

function statusFacts(entry: StatusEntry, after: StartedGroup): ReplyFacts | null {
  const { event, owner, previousOwner } = entry;
  switch (event) {
    case 'urgency_raised': {
      const level = entry.toSeverityLevel ?? after.portrait.severityLevel;
      return { event, level, formerOwner: previousOwner };
    }
    case 'reopened':
      return { event, owner };
    case 'snooze_ended':
      return { event, fingerprints: entry.fingerprints };
    case 'takeover':
      return owner && previousOwner ? { event, owner, formerOwner: previousOwner } : null;
    case 'resolved': {
      const { resolution } = contextOf(after);
      return resolution?.by === 'system' ? { event, reason: resolution.reason } : null;
    }
    case 'unacknowledged': {
      const reason = entry.reason === 'owner_deleted' ? 'owner_deleted' : 'owner_disabled';
      return previousOwner ? { event, reason, formerOwner: previousOwner } : null;
    }
    case 'auto_unacknowledged':
      return previousOwner ? { event, formerOwner: previousOwner } : null;
    default:
      return null;
  }
}

function timerFacts(
  { event, noticeNumber, missedCount }: TimerEntry,
  after: StartedGroup,
): ReplyFacts | null {
  const { owner } = contextOf(after);
  switch (event) {
    case 'ack_timeout':
      return { event, last: noticeNumber === ACK_NOTICES };
    case 'reminder':
      return owner ? { event, owner } : null;
    case 'notices_missed': {
      const count = missedCount ?? 1;
      return owner ? { event, kind: 'reminder', count, owner } : { event, kind: 'ack_timeout', count };
    }
    default:
      return null;
  }
}
