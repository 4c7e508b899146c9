/**
 * The waiting events of one Destination in memory, headers only. Per Alert Group they form a line of which only the
 * head may be sent; heads that are due stand in one order: Urgent first, then by time (webhooks §3.2).
 */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { LifecycleEventName } from '../model.ts';
import { createHeap, type Heap } from './heap.ts';

export interface WaitingEvent {
  readonly id: string;
  readonly groupId: PublicId;
  readonly sequence: number;
  readonly event: LifecycleEventName;
  readonly urgent: boolean;
  readonly occurredAt: Micros;
  /** Calls started since it was recorded; the number of the newest, by which its outcome is known. */
  calls: number;
  /** Times in a row that it could not be read to be sent. */
  unread: number;
  attempts: number;
  firstFailedAt: Micros | null;
  /** Not to be sent before; 0 when nothing holds it. */
  notBefore: Micros;
  /** `notBefore` is what the receiver asked for, and outlives a recovery. */
  exact: boolean;
}

export interface EventQueue {
  /** Events held, those in flight included. */
  readonly size: number;
  readonly inFlight: number;
  holds(groupId: string): boolean;
  /** Events of this group held. */
  lengthOf(groupId: string): number;
  groupIds(): IterableIterator<PublicId>;
  /** Every event, group by group, in order. */
  events(): IterableIterator<WaitingEvent>;
  /** Puts an event at the end of its group's line. */
  add(event: WaitingEvent): void;
  /** The head with this id, in flight or waiting; undefined when it is none. */
  head(eventId: string): { readonly event: WaitingEvent; readonly inFlight: boolean } | undefined;
  /** The first head that may be sent now. It stays where it is until {@link start}. */
  nextDue(now: Micros): WaitingEvent | undefined;
  /** The oldest head that nothing the receiver asked for holds back; the probe of a Broken Destination. */
  oldest(now: Micros): WaitingEvent | undefined;
  /** When the next head becomes due; null when every head is in flight. Past instants mean now. */
  dueAt(): Micros | null;
  start(event: WaitingEvent, lostAt: Micros): void;
  /** Back in line after a call, to be sent at `event.notBefore`. */
  putBack(event: WaitingEvent): void;
  /** Takes a head out for good; the next of its group follows. */
  remove(event: WaitingEvent): void;
  /** Heads in flight whose call counts as lost at `now`. */
  lost(now: Micros): WaitingEvent[];
  /** When the first call in flight counts as lost. */
  lostAt(): Micros | null;
  /** Fresh budgets for everything that waits. */
  renew(): void;
  clear(): void;
}

interface Line {
  readonly groupId: PublicId;
  readonly events: WaitingEvent[];
  /** Raised whenever the line changes its place, so that older entries in the heaps are recognised as stale. */
  stamp: number;
}

interface Place {
  readonly line: Line;
  readonly stamp: number;
  readonly event: WaitingEvent;
  /** `notBefore` as it was when it took this place: the event changes while stale places lie in the heap. */
  readonly dueAt: Micros;
}

export function createEventQueue(): EventQueue {
  const lines = new Map<string, Line>();
  const heads = new Map<string, Line>();
  const flights = new Map<string, Micros>();
  let ready = createHeap<Place>(goesFirst);
  let held = createHeap<Place>(isDueFirst);
  /** Heads by age, kept only while probes are asked for: a healthy Destination would never take any out. */
  let aged: Heap<Place> | null = null;
  let size = 0;

  const settle = (line: Line): void => {
    const event = line.events[0];
    if (!event) return;
    line.stamp++;
    const place = { line, stamp: line.stamp, event, dueAt: event.notBefore };
    if (event.notBefore > 0) held.push(place);
    else ready.push(place);
    if (!event.exact || event.notBefore === 0) aged?.push(place);
  };
  const top = (heap: Heap<Place>): Place | undefined => {
    for (let place = heap.peek(); place; place = heap.peek()) {
      if (place.stamp === place.line.stamp && place.line.events[0] === place.event) return place;
      heap.pop();
    }
    return undefined;
  };
  const release = (now: Micros): void => {
    for (let place = top(held); place && place.dueAt <= now; place = top(held)) {
      held.pop();
      ready.push(place);
      if (place.event.exact) aged?.push(place);
    }
  };
  const byAge = (now: Micros): Heap<Place> => {
    const heap = createHeap<Place>(isOlder);
    for (const line of lines.values()) {
      const event = line.events[0];
      if (!event || flights.has(event.id) || (event.exact && event.notBefore > now)) continue;
      heap.push({ line, stamp: line.stamp, event, dueAt: event.notBefore });
    }
    return heap;
  };
  const sortAgain = (): void => {
    ready = createHeap<Place>(goesFirst);
    held = createHeap<Place>(isDueFirst);
    aged = null;
  };
  const lineOf = (event: WaitingEvent): Line => {
    const line = heads.get(event.id);
    if (!line) throw new Error(`Event ${event.id} is not the first of its group.`);
    return line;
  };

  return {
    get size() {
      return size;
    },
    get inFlight() {
      return flights.size;
    },
    holds: (groupId) => lines.has(groupId),
    lengthOf: (groupId) => lines.get(groupId)?.events.length ?? 0,
    *groupIds() {
      for (const line of lines.values()) yield line.groupId;
    },
    *events() {
      for (const line of lines.values()) yield* line.events;
    },
    add(event) {
      const line = lines.get(event.groupId) ?? { groupId: event.groupId, events: [], stamp: 0 };
      lines.set(event.groupId, line);
      line.events.push(event);
      size++;
      if (line.events.length > 1) return;
      heads.set(event.id, line);
      settle(line);
    },
    head(eventId) {
      const event = heads.get(eventId)?.events[0];
      return event && { event, inFlight: flights.has(eventId) };
    },
    nextDue(now) {
      aged = null;
      release(now);
      return top(ready)?.event;
    },
    oldest(now) {
      release(now);
      aged ??= byAge(now);
      return top(aged)?.event;
    },
    dueAt() {
      if (top(ready)) return 0;
      return top(held)?.dueAt ?? null;
    },
    start(event, lostAt) {
      lineOf(event).stamp++;
      flights.set(event.id, lostAt);
    },
    putBack(event) {
      flights.delete(event.id);
      settle(lineOf(event));
    },
    remove(event) {
      const line = lineOf(event);
      flights.delete(event.id);
      heads.delete(event.id);
      line.events.shift();
      size--;
      const next = line.events[0];
      if (!next) {
        lines.delete(line.groupId);
        line.stamp++;
        return;
      }
      heads.set(next.id, line);
      settle(line);
    },
    lost(now) {
      const ids = [...flights].filter(([, lostAt]) => lostAt <= now).map(([id]) => id);
      return ids.flatMap((id) => heads.get(id)?.events[0] ?? []);
    },
    lostAt() {
      return flights.size === 0 ? null : Math.min(...flights.values());
    },
    renew() {
      sortAgain();
      for (const line of lines.values()) {
        for (const event of line.events) renewEvent(event);
        const head = line.events[0];
        if (head && !flights.has(head.id)) settle(line);
      }
    },
    clear() {
      lines.clear();
      heads.clear();
      flights.clear();
      sortAgain();
      size = 0;
    },
  };
}

function renewEvent(event: WaitingEvent): void {
  event.attempts = 0;
  event.firstFailedAt = null;
  if (!event.exact) event.notBefore = 0;
}

function isDueFirst(a: Place, b: Place): boolean {
  return a.dueAt < b.dueAt;
}

function isOlder({ event: a }: Place, { event: b }: Place): boolean {
  return a.occurredAt < b.occurredAt || (a.occurredAt === b.occurredAt && a.id < b.id);
}

function goesFirst(a: Place, b: Place): boolean {
  return a.event.urgent === b.event.urgent ? isOlder(a, b) : a.event.urgent;
}
