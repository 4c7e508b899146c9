/**
 * What a Destination holds in memory besides its state: its waiting events, bounded. A group is either loaded with its
 * first waiting events or not at all ("parked": storage alone knows them); parked groups follow as loaded ones end. A
 * loaded group with more events than it may hold here keeps its tail in storage, and is parked when the loaded part ends.
 */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import {
  type Delivery,
  deliveryKey,
  type Flight,
  NO_TRIES,
  newDelivery,
  type QueuedEvent,
  type Tries,
} from './delivery/delivery.ts';
import type { DeliveryPage } from './delivery/ports.ts';
import { hold, type MessageRows, messageRows } from './delivery/rows.ts';
import type { DeliveryNote } from './delivery-reports.ts';

/** Events in memory above which further groups are parked. */
export const MOST_EVENTS = 10_000;
/** Events in memory below which parked groups are loaded, and how many at once. */
export const PAGE_EVENTS = 5_000;
/** Events of one group in memory. */
export const MOST_OF_GROUP = 100;
/** How many Alert Groups are remembered as told something. */
const MOST_GROUPS = 20_000;
/** Longer than any commit takes: what a read of storage may not show yet is remembered for this long. */
const COMMIT_HORIZON: Micros = 30 * SECOND;

/** A waiting event as it is read. */
export interface WaitingEvent extends QueuedEvent {
  readonly groupId: PublicId;
  readonly tries: Tries;
}

/** What storage gives: waiting events group by group, in order, each group from its first on. */
export interface WaitingPage {
  readonly events: readonly WaitingEvent[];
  /** Further groups wait in storage. */
  readonly more: boolean;
  /** Groups of which it gives the first {@link MOST_OF_GROUP} only. */
  readonly cut: readonly PublicId[];
}

export interface StoredDestinationRows extends WaitingPage {
  /** Groups with an event that ended as Not delivered. */
  readonly troubled: readonly PublicId[];
  /** Events whose call was under way when the rows were last written, and when it counts as lost. */
  readonly sending: readonly { readonly id: string; readonly lostAt: Micros }[];
  /** Deliveries of messages with something to do. */
  readonly deliveries: DeliveryPage;
}

export interface DestinationRows {
  /** Events in memory, those in flight included. */
  events: number;
  /** Groups are parked. */
  overflow: boolean;
  /** An Urgent one among them: it is loaded without waiting for room. */
  urgentParked: boolean;
  /** Loaded groups whose later events are in storage alone. */
  readonly tails: Set<string>;
  /** Events parked lately: a page may have been read before their commit. */
  readonly parked: Recent<WaitingEvent>;
  /** Events that ended lately: a page may still show them. */
  readonly ended: Recent<string>;
  /** Events that came from storage; their message may still be under way and must not count twice. */
  readonly fromStorage: BoundedSet;
  /** Groups told that this Destination has a problem with them. */
  readonly troubled: BoundedSet;
  readonly published: BoundedSet;
  /** What groups are still to be told, oldest first. */
  readonly notes: DeliveryNote[];
  /** Deliveries of messages, and lines of events: one of each Alert Group whose events are loaded. */
  readonly messages: MessageRows;
  /** What was under way when the rows were loaded; null until the first turn. */
  inherited: Inherited | null;
}

/** Calls that an earlier activation began: the newest by its number, and events by their count of calls. */
export interface Inherited {
  readonly call: number;
  readonly events: ReadonlyMap<string, number>;
}

export function emptyDestinationRows(): DestinationRows {
  return destinationRows({
    ...{ events: [], more: false, cut: [], troubled: [], sending: [] },
    deliveries: { deliveries: [], more: false },
  });
}

/** The rows of an activation. */
export function destinationRows(stored: StoredDestinationRows): DestinationRows {
  const rows: DestinationRows = {
    events: 0,
    overflow: stored.more,
    urgentParked: false,
    tails: new Set(stored.cut),
    parked: createRecent(COMMIT_HORIZON),
    ended: createRecent(COMMIT_HORIZON),
    fromStorage: createBoundedSet(
      2 * MOST_EVENTS,
      stored.events.map((event) => event.id),
    ),
    troubled: createBoundedSet(MOST_GROUPS, stored.troubled),
    published: createBoundedSet(MOST_GROUPS),
    notes: [],
    messages: messageRows(stored.deliveries),
    inherited: null,
  };
  const calls = new Map(stored.sending.map(({ id, lostAt }) => [id, lostAt]));
  for (const [groupId, events] of byGroup(stored.events)) holdLine(rows, groupId, events, calls, 0);
  return rows;
}

/** How many calls of each event that is being sent were begun, by its id. */
export function eventsUnderWay({ messages }: DestinationRows): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const key of messages.flights.values()) {
    const [event] = messages.byKey.get(key)?.events ?? [];
    if (event) found.set(event.id, event.calls);
  }
  return found;
}

function byGroup(events: readonly WaitingEvent[]): Map<PublicId, WaitingEvent[]> {
  const lines = new Map<PublicId, WaitingEvent[]>();
  for (const event of events) {
    const line = lines.get(event.groupId);
    if (line) line.push(event);
    else lines.set(event.groupId, [event]);
  }
  return lines;
}

/** The events of an Alert Group here, none yet (delivery §11.1). They come by way of whatever Route it is on. */
export function newLine(groupId: PublicId): Delivery {
  return newDelivery({
    ...{ subject: { kind: 'group', groupId }, target: 1, connectionId: null, routeId: '' as PublicId },
    ...{
      number: null,
      urgent: false,
      status: 'firing',
      changedAt: 0,
      renewedAt: 0,
      root: 'current',
      events: [],
    },
  });
}

export function lineOf(rows: DestinationRows, groupId: PublicId): Delivery | undefined {
  return rows.messages.byKey.get(deliveryKey({ subject: { kind: 'group', groupId }, target: 1, events: [] }));
}

/** Loaded groups with waiting events. */
export function* waitingGroups({ messages }: DestinationRows): IterableIterator<PublicId> {
  for (const { events, subject } of messages.byKey.values())
    if (events && subject.kind === 'group') yield subject.groupId;
}

/** Takes the first events of a group from storage. @param calls when the calls under way count as lost, by event */
function holdLine(
  rows: DestinationRows,
  groupId: PublicId,
  events: readonly WaitingEvent[],
  calls: ReadonlyMap<string, Micros>,
  now: Micros,
): void {
  const [first] = events;
  if (!first) return;
  const lostAt = calls.get(first.id);
  const call = lostAt === undefined ? null : loadedFlight(first, lostAt);
  const { tries, urgent } = first;
  const root = call ? 'publishing' : 'wanted';
  hold(rows.messages, { ...newLine(groupId), root, call, tries, urgent, events }, now);
  rows.events += events.length;
}

/** The newest call about an event, of which no more is known than storage keeps. */
export function loadedFlight({ calls }: QueuedEvent, lostAt: Micros): Flight {
  return {
    ...{ call: calls, kind: 'publish', messageId: null, sequence: null, status: 'firing', isFinal: false },
    ...{ isProbe: false, tookToken: false, loudness: 'quiet', startedAt: 0, lostAt },
  };
}

/** Puts an event that does not fit into memory aside: storage has it. */
export function park(rows: DestinationRows, groupId: PublicId, event: QueuedEvent, now: Micros): void {
  rows.parked.add(event.id, { ...event, groupId, tries: NO_TRIES }, now);
  if (lineOf(rows, groupId)) {
    rows.tails.add(groupId);
    return;
  }
  rows.overflow = true;
  rows.urgentParked ||= event.urgent;
}

/** Whether an event of the group fits into memory, behind all that wait before it. */
export function hasRoomFor(rows: DestinationRows, groupId: PublicId): boolean {
  const line = lineOf(rows, groupId);
  if (!line) return !rows.overflow && rows.events < MOST_EVENTS;
  return !rows.tails.has(groupId) && (line.events?.length ?? 0) < MOST_OF_GROUP;
}

/** Whether parked groups should be loaded before the next turn. */
export function wantsPage(rows: DestinationRows): boolean {
  if (!rows.overflow) return false;
  return rows.events < PAGE_EVENTS || (rows.urgentParked && rows.events < 2 * MOST_EVENTS);
}

/** Takes in a page of parked groups, minding what the read could not know. */
export function takePage(rows: DestinationRows, page: WaitingPage, now: Micros): void {
  const cut = new Set<string>(page.cut);
  const isKnown = ({ id, groupId }: WaitingEvent) =>
    lineOf(rows, groupId) !== undefined || rows.ended.has(id);
  const lines = byGroup(page.events.filter((event) => !isKnown(event)));
  const uncommitted = rows.parked.values();
  for (const event of uncommitted) {
    const line = lines.get(event.groupId) ?? (page.more ? undefined : []);
    if (!line || cut.has(event.groupId) || isKnown(event)) continue;
    lines.set(event.groupId, line);
    if (!line.some((known) => known.id === event.id)) line.push(event);
  }
  for (const [groupId, line] of lines) {
    if (cut.has(groupId)) rows.tails.add(groupId);
    line.sort((a, b) => a.sequence - b.sequence);
    holdLine(rows, groupId, line, new Map(), now);
    for (const event of line) {
      rows.fromStorage.add(event.id);
      rows.parked.delete(event.id);
    }
  }
  rows.overflow = page.more;
  rows.urgentParked = false;
}

/** An event was taken out for good. */
export function noteEnded(rows: DestinationRows, groupId: PublicId, { id }: QueuedEvent, now: Micros): void {
  rows.events--;
  const hasTail = rows.tails.has(groupId);
  if (hasTail && !lineOf(rows, groupId)) {
    rows.tails.delete(groupId);
    rows.overflow = true;
  }
  if (hasTail || rows.overflow || rows.events > PAGE_EVENTS) rows.ended.add(id, id, now);
}

/** Remembers things for a while, oldest first out. */
interface Recent<T> {
  add(key: string, value: T, now: Micros): void;
  has(key: string): boolean;
  values(): T[];
  delete(key: string): void;
  clear(): void;
}

function createRecent<T>(keep: Micros): Recent<T> {
  const held = new Map<string, { readonly value: T; readonly at: Micros }>();
  return {
    add(key, value, now) {
      for (const [old, { at }] of held) {
        if (at > now - keep) break;
        held.delete(old);
      }
      held.set(key, { value, at: now });
    },
    has: (key) => held.has(key),
    values: () => [...held.values()].map((entry) => entry.value),
    delete: (key) => void held.delete(key),
    clear: () => held.clear(),
  };
}

/** A set that forgets its oldest members beyond `most`. */
interface BoundedSet {
  add(key: string): void;
  has(key: string): boolean;
  delete(key: string): boolean;
}

function createBoundedSet(most: number, keys: Iterable<string> = []): BoundedSet {
  const held = new Set(keys);
  return {
    add(key) {
      held.add(key);
      if (held.size <= most) return;
      for (const oldest of held) {
        held.delete(oldest);
        return;
      }
    },
    has: (key) => held.has(key),
    delete: (key) => held.delete(key),
  };
}
