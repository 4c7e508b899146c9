/** What a Destination has to read before a turn: its configuration, parked events, deliveries that are not in memory. */
import type { Actor, ActorMessage } from '../../runtime/actor/index.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type Subject, subjectText } from '../channels/calls.ts';
import type { DirectorySource } from '../directory.ts';
import type { DeliveryReads } from './delivery/ports.ts';
import { type PreparedMessages, subjectOf } from './delivery/receive.ts';
import { holdsMessage, knowsOf, PAGE_DELIVERIES, wantedKeys, wantsDeliveries } from './delivery/rows.ts';
import { readSweep } from './delivery/sweeps.ts';
import { readySweep } from './delivery/turn.ts';
import type { DestinationMessage } from './messages.ts';
import { type DestinationRows, PAGE_EVENTS, type WaitingPage, waitingGroups, wantsPage } from './rows.ts';
import type { DestinationState } from './turn.ts';

export interface Prepared extends PreparedMessages {
  readonly events?: WaitingPage;
}

export function prepare(
  { self, state, rows }: Actor<DestinationState, DestinationRows>,
  message: DestinationMessage,
  { directory, waiting, deliveries, forgetSettings }: DestinationDependencies,
  following: Iterable<ActorMessage> = [],
): Promise<Prepared> | null {
  const id = self.key as PublicId;
  const reads: Promise<Prepared>[] = [];
  if (changesSettings(message)) forgetSettings(id);
  if (needsConfiguration(message, state, directory.current().destinationsById.has(id))) {
    reads.push(directory.reload().then(() => ({})));
  }
  if (wantsPage(rows)) {
    const page = waiting.page(id, [...waitingGroups(rows)], PAGE_EVENTS);
    reads.push(page.then((events) => ({ events })));
  }
  if (wantsDeliveries(rows.messages)) {
    const page = deliveries.page(id, wantedKeys(rows.messages), PAGE_DELIVERIES);
    reads.push(page.then((read) => ({ page: read })));
  }
  const subject = subjectOf(message);
  const isUnknown = (one: Subject) => !knowsOf(rows.messages, one, state.messages.place?.target ?? 1);
  if (subject && isUnknown(subject)) {
    const asked = [...new Set([subjectText(subject), ...subjectsAhead(following, isUnknown)])];
    reads.push(deliveries.read(id, asked).then((known) => ({ known, asked })));
  }
  if (message.type === 'message_gone' && !subject && !holdsMessage(rows.messages, message.messageId)) {
    reads.push(deliveries.summary(id, message.messageId).then((known) => ({ known })));
  }
  const sweep =
    message.type === 'wake' ? readySweep(state.messages.sweeps, rows.notes.length > 0) : undefined;
  if (sweep) reads.push(readSweep(deliveries, id, sweep).then((page) => ({ sweep: page })));
  if (reads.length === 0) return null;
  return Promise.all(reads).then((parts) => Object.assign({}, ...parts));
}

/**
 * The message was stored with a change of what requests and messages are made of: whatever this process kept of it
 * before is older, and a call decided in this turn must not be made with it.
 */
function changesSettings(message: DestinationMessage): boolean {
  return message.type === 'saved' || (message.type === 'rerender' && message.groupId === undefined);
}

/** A save that this replica may not have read yet, or the first message about a Destination that it does not know. */
function needsConfiguration(message: DestinationMessage, state: DestinationState, isKnown: boolean): boolean {
  if (changesSettings(message) || message.type === 'routes_changed') return true;
  const isAboutMessages = message.type === 'group_event' || message.type === 'storm';
  return isAboutMessages && !isKnown && state.messages.place === null;
}

/** Subjects that are read with one question. */
const MOST_ASKED = 500;

/** What the messages behind are about: many groups that begin at once are looked for together, not one by one. */
function subjectsAhead(
  following: Iterable<ActorMessage>,
  isUnknown: (subject: Subject) => boolean,
): readonly string[] {
  const subjects: string[] = [];
  for (const message of following) {
    if (subjects.length === MOST_ASKED) break;
    const subject = subjectOf(message as DestinationMessage);
    if (subject && isUnknown(subject)) subjects.push(subjectText(subject));
  }
  return subjects;
}

export interface DestinationDependencies {
  readonly directory: DirectorySource;
  readonly waiting: WaitingEvents;
  readonly deliveries: DeliveryReads;
  /** Drops what this process keeps of the settings of a Destination: they were saved, or look otherwise. */
  forgetSettings(destinationId: PublicId): void;
}

/** Storage of waiting events, as the actor needs it. */
export interface WaitingEvents {
  /**
   * The next groups, Urgent and oldest first, each with its first events, until about `limit` events; not the groups
   * named.
   */
  page(destinationId: PublicId, except: readonly PublicId[], limit: number): Promise<WaitingPage>;
}
