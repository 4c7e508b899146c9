/** What a committed call is to say, from the newest state (delivery §3 rule 3). */
import type { PublicId } from '../../../runtime/public-id.ts';
import type {
  MessageContent,
  MessageSend,
  ReplyCall,
  ReplyFacts,
  SendNotes,
  Shown,
  Subject,
} from '../../channels/calls.ts';
import type { EventContent } from '../../channels/channel.ts';
import type { DestinationConfig, DirectorySource } from '../../directory.ts';
import { type DeliveryNotes, isOvertaken, NO_NOTES, type ReplyEvent } from '../../messages/index.ts';
import type { Loudness, SymbolicMention } from '../../model.ts';
import { type NamedPerson, peopleOf, type Target, targetsOf } from './people.ts';
import type { AccountsOf, GroupScene, SceneReader, StormReader } from './scene.ts';

export type ReadContent =
  | { readonly is: 'content'; readonly content: MessageContent | EventContent }
  /** A reply of which nothing is left to say. */
  | { readonly is: 'dropped' }
  /** What it is about is not there any more. */
  | { readonly is: 'missing' };

export interface ContentReader {
  read(send: MessageSend, destination: DestinationConfig | null): Promise<ReadContent>;
}

export interface ContentDeps {
  readonly scenes: SceneReader;
  readonly storms: StormReader;
  readonly accountsOf: AccountsOf;
  /** The body of an event as it was recorded; null once the event has ended. */
  readonly eventBody: (eventId: string) => Promise<string | null>;
  readonly directory: Pick<DirectorySource, 'current'>;
}

export function createContentReader(deps: ContentDeps): ContentReader {
  const { scenes, directory } = deps;

  /** Nobody is called by a Quiet message, nor for a Destination that is deleted. */
  const called = (
    loudness: Loudness,
    mentions: readonly SymbolicMention[],
    owner: NamedPerson | null,
    destination: DestinationConfig | null,
  ): readonly Target[] =>
    loudness === 'loud' && destination
      ? targetsOf(mentions, owner, destination, directory.current().usersById)
      : [];

  const publish = async (
    send: MessageSend,
    operation: Extract<MessageSend['operation'], { kind: 'publish' }>,
    destination: DestinationConfig | null,
  ): Promise<ReadContent> => {
    const targets = called(operation.loudness, operation.mentions, operation.owner, destination);
    const shown = await readShown(deps, send, userIds(targets));
    if (!shown) return { is: 'missing' };
    const notes = notesOf(send.notes, shown, false);
    const isLoud = operation.loudness === 'loud';
    return { is: 'content', content: { kind: 'publish', shown, notes, isLoud, targets } };
  };

  const edit = async (send: MessageSend, isFinal: boolean): Promise<ReadContent> => {
    const shown = await readShown(deps, send, []);
    if (!shown) return { is: 'missing' };
    return { is: 'content', content: { kind: 'edit', shown, notes: notesOf(send.notes, shown, isFinal) } };
  };

  const reply = async (
    send: MessageSend,
    call: ReplyCall,
    destination: DestinationConfig | null,
  ): Promise<ReadContent> => {
    if (send.subject.kind === 'storm') return { is: 'missing' };
    const { groupId } = send.subject;
    const targets = called(call.loudness, call.mentions, call.owner, destination);
    const others = [...userIds(targets), ...peopleIn(call.facts)];
    const scene = await scenes.read(groupId, send.connectionId, others);
    if (!scene) return { is: 'missing' };
    const event = await replyEvent(call, groupId, scene, scenes);
    if (!event) return { is: 'dropped' };
    const isLoud = call.loudness === 'loud' && !isOvertaken(event);
    return {
      is: 'content',
      content: { kind: 'reply', scene, event, isLoud, targets: isLoud ? targets : [] },
    };
  };

  const event = async ({ key }: MessageSend): Promise<ReadContent> => {
    const body = key === null ? null : await deps.eventBody(key);
    if (body === null) return { is: 'dropped' };
    return { is: 'content', content: { kind: 'event', body } };
  };

  return {
    async read(send, destination) {
      const { operation } = send;
      switch (operation.kind) {
        case 'publish':
          return publish(send, operation, destination);
        case 'edit':
          return edit(send, operation.isFinal);
        case 'reply':
          return reply(send, operation.reply, destination);
        case 'event':
          return event(send);
      }
    },
  };
}

async function readShown(
  deps: ContentDeps,
  { subject, connectionId }: MessageSend,
  others: readonly PublicId[],
): Promise<Shown | null> {
  if (subject.kind === 'storm') return readStorm(deps, subject, connectionId, others);
  const scene = await deps.scenes.read(subject.groupId, connectionId, others);
  return scene && { kind: 'group', scene };
}

async function readStorm(
  { storms, scenes, directory, accountsOf }: ContentDeps,
  { routeId, since }: Extract<Subject, { kind: 'storm' }>,
  connectionId: PublicId | null,
  others: readonly PublicId[],
): Promise<Shown | null> {
  const state = await storms.read(routeId, since);
  if (!state) return null;
  const { routesById, usersById } = directory.current();
  const isAsked = connectionId !== null && others.length > 0;
  const accounts = isAsked ? await accountsOf(connectionId, others) : new Map();
  return {
    kind: 'storm',
    storm: { routeId, routeName: routesById.get(routeId)?.name ?? '', ...state },
    settings: scenes.settings(routeId),
    people: peopleOf(accounts, usersById),
  };
}

/** A group that fires again has no end that a note about being late could name. */
function notesOf({ late, deletedAt, continued }: SendNotes, shown: Shown, final: boolean): DeliveryNotes {
  if (shown.kind === 'storm') return NO_NOTES;
  const { group, resolvedAt } = shown.scene;
  const isLate = late && resolvedAt !== null;
  return { late: isLate ? lateNote(group, resolvedAt) : null, deletedAt, continued, final };
}

function lateNote({ startedAt, alertsStartedAt }: GroupScene['group'], resolvedAt: number) {
  return { began: alertsStartedAt ?? startedAt, ended: resolvedAt };
}

function userIds(targets: readonly Target[]): PublicId[] {
  return targets.flatMap((target) => (target.type === 'user' ? [target.id] : []));
}

/** Whom a reply names besides its Mentions. */
function peopleIn(facts: ReplyFacts): readonly PublicId[] {
  const named: (NamedPerson | null)[] = [
    'owner' in facts ? facts.owner : null,
    'formerOwner' in facts ? facts.formerOwner : null,
  ];
  return named.flatMap((person) => (person ? [person.id] : []));
}

/** Null when the reply is dropped: it is Quiet, and none of its Alerts fires any more (delivery §3.1). */
async function replyEvent(
  { facts, loudness, at }: ReplyCall,
  groupId: PublicId,
  { group, ownerId, people: { nameOf } }: GroupScene,
  scenes: Pick<SceneReader, 'alerts'>,
): Promise<ReplyEvent | null> {
  const since = (holds: boolean) => (holds ? {} : { overtaken: at });
  switch (facts.event) {
    case 'alerts_added': {
      const alerts = await scenes.alerts(groupId, facts.fingerprints);
      const isFiring = alerts.some(({ state }) => state === 'firing');
      return loudness === 'quiet' && !isFiring ? null : { event: 'alerts_added', alerts };
    }
    case 'snooze_ended': {
      const joined = await scenes.alerts(groupId, facts.fingerprints);
      return { event: 'snooze_ended', joined: joined.filter(({ state }) => state === 'firing') };
    }
    case 'urgency_raised': {
      const { event, level, formerOwner } = facts;
      return { event, level, formerOwner: formerOwner && nameOf(formerOwner) };
    }
    case 'reopened':
      return { event: 'reopened', owner: facts.owner && nameOf(facts.owner) };
    case 'takeover':
      return { event: 'takeover', owner: nameOf(facts.owner), formerOwner: nameOf(facts.formerOwner) };
    case 'unacknowledged':
      return { ...facts, formerOwner: nameOf(facts.formerOwner) };
    case 'auto_unacknowledged':
      return { event: 'auto_unacknowledged', formerOwner: nameOf(facts.formerOwner) };
    case 'reminder':
      return { event: 'reminder', owner: nameOf(facts.owner), ...since(ownerId === facts.owner.id) };
    case 'notices_missed':
      return facts.kind === 'reminder'
        ? { ...facts, owner: nameOf(facts.owner), ...since(ownerId === facts.owner.id) }
        : { ...facts, ...since(group.status === 'firing') };
    case 'ack_timeout': {
      // Another owner since then started the notices over.
      const last = facts.last && group.unclaimed;
      return { event: 'ack_timeout', last, ...since(group.status === 'firing') };
    }
    case 'alert_replaced':
    case 'resolved':
      return facts;
  }
}
