/** Lifecycle events announced with the change: to messages and to webhooks (delivery §2, webhooks §3.2). */
import type { Send } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { ReplyFacts } from '../channels/calls.ts';
import { concernsMessages } from '../destination/delivery/forms.ts';
import { takesMessages } from '../destination/delivery/state.ts';
import {
  destinationAddress,
  type EventRecorded,
  type GroupEvent,
  type GroupReleased,
  newEventId,
  type Rerender,
} from '../destination/messages.ts';
import type { DestinationConfig, Directory, MentionTargets } from '../directory.ts';
import type { ResolvedMention, WebhookEventRecorded } from '../effects.ts';
import type { GroupView, LifecycleEvent, Loudness, SymbolicMention, UserRef } from '../model.ts';
import { isUrgent } from './reading/alert-summary.ts';
import type { AlertsEntry, LifecycleEntry, StatusEntry, TimerEntry } from './reading/timeline.ts';
import { contextOf, type StartedGroup, statusOf } from './state.ts';
import { ACK_NOTICES } from './timers/timers.ts';

/** Destinations on some Routes that get messages, or events, each once. */
export function destinationsOf(
  gets: 'messages' | 'events',
  routeIds: readonly PublicId[],
  directory: Directory,
): DestinationConfig[] {
  const ids = new Set(routeIds.flatMap((id) => directory.routesById.get(id)?.destinationIds ?? []));
  return [...ids].flatMap((id) => {
    const destination = directory.destinationsById.get(id);
    return destination && takesMessages(destination) === (gets === 'messages') ? [destination] : [];
  });
}

export interface News {
  readonly groupId: PublicId;
  readonly event: LifecycleEvent;
  readonly entry: LifecycleEntry;
  readonly after: StartedGroup;
}

/**
 * The message about one event for the Destinations; null when no message shows it, or the Route sends it (`created`).
 */
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

/** Notifies every message Destination of the present Route that the group is no longer held by a Storm. */
export function releaseSends(
  groupId: PublicId,
  after: StartedGroup,
  { loudness, at }: { readonly loudness: Loudness; readonly at: Micros },
  directory: Directory,
): Send[] {
  const about = { groupId, ...standing(after, directory), loudness, at };
  const message: GroupReleased = { type: 'group_released', ...about };
  const destinations = destinationsOf('messages', [contextOf(after).routeId], directory);
  return destinations.map(({ id }) => ({ to: destinationAddress(id), message }));
}

/** Notifies every message Destination of the present Route that the messages show something else, without an event. */
export function rerenderSends(groupId: PublicId, after: StartedGroup, directory: Directory): Send[] {
  const { routeId } = contextOf(after);
  const message: Rerender = { type: 'rerender', routeId, groupId };
  const destinations = destinationsOf('messages', [routeId], directory);
  return destinations.map(({ id }) => ({ to: destinationAddress(id), message }));
}

function standing(after: StartedGroup, directory: Directory) {
  const { routeId } = contextOf(after);
  const urgent = isUrgent(directory, routeId, after.portrait.severityLevel);
  return { number: after.number, routeId, status: statusOf(after), urgent } as const;
}

/** The contents of a reply about the event; null when the event needs none. */
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

/** A lifecycle event and the Routes whose Destinations receive it: the present one, and one that was just left. */
export interface Announcement {
  readonly event: LifecycleEvent;
  readonly routeIds: readonly PublicId[];
}

export interface Announced {
  readonly record: WebhookEventRecorded;
  readonly send: { readonly to: ReturnType<typeof destinationAddress>; readonly message: EventRecorded };
}

/** One event for one Destination. */
export function announce(
  event: LifecycleEvent,
  destination: DestinationConfig,
  group: GroupView,
  number: number | null,
  directory: Directory,
  random: (size: number) => Uint8Array,
): Announced {
  const eventId = newEventId(random);
  return {
    record: {
      type: 'webhook.recorded',
      eventId,
      destinationId: destination.id,
      event,
      group,
      number,
      mentions: resolveMentions(event, destination, directory),
    },
    send: {
      to: destinationAddress(destination.id),
      message: {
        type: 'event_recorded',
        eventId,
        groupId: group.id,
        sequence: event.sequence,
        event: event.name,
        urgent: group.urgent,
        occurredAt: event.at,
      },
    },
  };
}

/**
 * The symbolic Mentions of an event for one Destination: the Owner first, then everyone, groups and users in the order
 * in which they were saved. Nobody twice; users who are disabled or deleted are left out. Empty for a Quiet event.
 */
export function resolveMentions(
  event: Pick<LifecycleEvent, 'loudness' | 'mentions' | 'ownerBefore'>,
  destination: Pick<DestinationConfig, 'mentions'>,
  directory: Pick<Directory, 'usersById'>,
): ResolvedMention[] {
  if (event.loudness === 'quiet') return [];
  const named = new Map<string, ResolvedMention>();
  for (const mention of ownersFirst(event.mentions)) {
    for (const resolved of targetsOf(mention, event.ownerBefore, destination, directory)) {
      const key = keyOf(resolved);
      if (!named.has(key)) named.set(key, resolved);
    }
  }
  return [...named.values()];
}

function ownersFirst(mentions: readonly SymbolicMention[]): SymbolicMention[] {
  const isOwner = (mention: SymbolicMention) => mention === 'owner' || mention === 'previous_owner';
  return [...mentions.filter(isOwner), ...mentions.filter((mention) => !isOwner(mention))];
}

function targetsOf(
  mention: SymbolicMention,
  owner: UserRef | null,
  { mentions }: Pick<DestinationConfig, 'mentions'>,
  { usersById }: Pick<Directory, 'usersById'>,
): ResolvedMention[] {
  if (mention === 'owner' || mention === 'previous_owner')
    return owner ? userMention(owner.id, usersById) : [];
  return settingTargets(mentions[mention], usersById);
}

function settingTargets(targets: MentionTargets, usersById: Directory['usersById']): ResolvedMention[] {
  return [
    ...(targets.everyone === 'none' ? [] : [{ type: 'everyone' } as const]),
    ...targets.groups.map((name) => ({ type: 'group', name }) as const),
    ...targets.user_ids.flatMap((id) => userMention(id, usersById)),
  ];
}

function userMention(id: string, usersById: Directory['usersById']): ResolvedMention[] {
  const user = usersById.get(id);
  if (user?.status !== 'active') return [];
  return [{ type: 'user', id: user.id, name: user.name, login: user.login }];
}

function keyOf(mention: ResolvedMention): string {
  switch (mention.type) {
    case 'everyone':
      return 'everyone';
    case 'group':
      return `group ${mention.name}`;
    case 'user':
      return `user ${mention.id}`;
  }
}
