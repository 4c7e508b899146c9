/**
 * What a Destination holds in memory besides its state: its waiting events, bounded. A group is either loaded with its
 * first waiting events or not at all ("parked": storage alone knows them); parked groups follow as loaded ones end. A
 * loaded group with more events than it may hold here keeps its tail in storage, and is parked when the loaded part ends.
 */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { DeliveryPage } from './delivery/ports.ts';
import { type MessageRows, messageRows } from './delivery/rows.ts';
import type { DeliveryNote } from './delivery-reports.ts';
import { createEventQueue, type EventQueue, type WaitingEvent } from './event-queue.ts';

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
  readonly queue: EventQueue;
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
  /** Groups told that they were published. */
  readonly published: BoundedSet;
  /** What groups are still to be told, oldest first. */
  readonly notes: DeliveryNote[];
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
  const queue = createEventQueue();
  for (const event of stored.events) queue.add(event);
  for (const { id, lostAt } of stored.sending) {
    const head = queue.head(id);
    if (head) queue.start(head.event, lostAt);
  }
  return {
    queue,
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
}

/** Takes in an event just recorded. @returns false when it is known already */
export function takeRecorded(rows: DestinationRows, event: WaitingEvent, now: Micros): boolean {
  if (rows.fromStorage.delete(event.id)) return false;
  const { queue, tails } = rows;
  const isHeld = queue.holds(event.groupId);
  const isFull = tails.has(event.groupId) || queue.lengthOf(event.groupId) >= MOST_OF_GROUP;
  if (isHeld ? !isFull : !rows.overflow && queue.size < MOST_EVENTS) {
    queue.add(event);
    return true;
  }
  rows.parked.add(event.id, event, now);
  if (isHeld) {
    tails.add(event.groupId);
    return true;
  }
  rows.overflow = true;
  rows.urgentParked ||= event.urgent;
  return true;
}

/** Whether parked groups should be loaded before the next turn. */
export function wantsPage(rows: DestinationRows): boolean {
  if (!rows.overflow) return false;
  return rows.queue.size < PAGE_EVENTS || (rows.urgentParked && rows.queue.size < 2 * MOST_EVENTS);
}

/** Takes in a page of parked groups, minding what the read could not know. */
export function takePage(rows: DestinationRows, page: WaitingPage): void {
  const { queue } = rows;
  const lines = new Map<string, WaitingEvent[]>();
  const cut = new Set<string>(page.cut);
  for (const event of page.events) {
    if (queue.holds(event.groupId) || rows.ended.has(event.id)) continue;
    const line = lines.get(event.groupId) ?? [];
    lines.set(event.groupId, line);
    line.push(event);
  }
  const uncommitted = rows.parked.values();
  for (const event of uncommitted) {
    const line = lines.get(event.groupId) ?? (page.more ? undefined : []);
    if (!line || cut.has(event.groupId) || queue.holds(event.groupId) || rows.ended.has(event.id)) continue;
    lines.set(event.groupId, line);
    if (!line.some((known) => known.id === event.id)) line.push(event);
  }
  for (const [groupId, line] of lines) {
    if (cut.has(groupId)) rows.tails.add(groupId);
    line.sort((a, b) => a.sequence - b.sequence);
    for (const event of line) {
      queue.add(event);
      rows.fromStorage.add(event.id);
      rows.parked.delete(event.id);
    }
  }
  rows.overflow = page.more;
  rows.urgentParked = false;
}

/** Takes an event out for good. */
export function endEvent(rows: DestinationRows, event: WaitingEvent, now: Micros): void {
  rows.queue.remove(event);
  const hasTail = rows.tails.has(event.groupId);
  if (hasTail && !rows.queue.holds(event.groupId)) {
    rows.tails.delete(event.groupId);
    rows.overflow = true;
  }
  if (hasTail || rows.overflow || rows.queue.size > PAGE_EVENTS) rows.ended.add(event.id, event.id, now);
}

/** Remembers things for a while, oldest first out. */
interface Recent<T> {
  add(key: string, value: T, now: Micros): void;
  has(key: string): boolean;
  values(): T[];
  delete(key: string): void;
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
