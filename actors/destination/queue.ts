/** The order in which a Destination makes its calls, whatever they are about (delivery §3 rule 6, webhooks §3.2). */
import type { Micros } from '../../runtime/clock.ts';

/** The next call about one delivery. */
export interface Due {
  readonly urgent: boolean;
  /** Not to be made before. */
  readonly dueAt: Micros;
  /** Since when it waits, or counts as if it did: among calls that are due the longest waiting goes first. */
  readonly since: Micros;
  /** Publications before edits before replies of equal time. */
  readonly kind: number;
  /** #N, for what is equal in everything else. */
  readonly number: number;
  /** Since when its Root message or event waits; null when a reply alone does. The oldest one is the probe. */
  readonly probeSince: Micros | null;
  /** When that one may be sent as the probe; a reply may be due before it. */
  readonly probeAt: Micros;
}

/** What waits to be sent through one Connection. */
export interface Queue {
  readonly size: number;
  /** Places in memory, those left behind included. */
  readonly room: number;
  /** Puts a delivery in its place, or takes it out when it has nothing to do. */
  put(key: string, due: Due | null): void;
  /** The delivery that goes next; it stays until it is put elsewhere. */
  next(now: Micros): string | undefined;
  /** When the first is due; null while nothing waits. */
  dueAt(): Micros | null;
  /** By which a Broken Destination is tried that has no check: whatever waits longest. */
  oldest(now: Micros): string | undefined;
  /** When there is one to try it by; null while nothing waits but replies. */
  oldestDueAt(now: Micros): Micros | null;
  keys(): IterableIterator<string>;
}

/** Old places beside as many as there are present ones. */
const MOST_LEFT_BEHIND = 64;

interface Place extends Due {
  readonly key: string;
  /** Order of coming. */
  readonly stamp: number;
}

export function createQueue(): Queue {
  const places = new Map<string, Place>();
  let ready = createHeap<Place>(goesFirst);
  let later = createHeap<Place>(isEarlier);
  /** Kept only while probes are asked for: a healthy Destination would never take any out. */
  let probes: { readonly aged: Heap<Place>; readonly later: Heap<Place> } | null = null;
  let stamps = 0;

  const top = (heap: Heap<Place>): Place | undefined => {
    for (let place = heap.peek(); place; place = heap.peek()) {
      if (places.get(place.key) === place) return place;
      heap.pop();
    }
    return undefined;
  };

  const release = (now: Micros): void => {
    for (let place = top(later); place && place.dueAt <= now; place = top(later)) {
      later.pop();
      ready.push(place);
    }
  };

  const probesAt = (now: Micros): NonNullable<typeof probes> => {
    if (!probes) {
      probes = { aged: createHeap(isOlder), later: createHeap((one, other) => one.probeAt < other.probeAt) };
      for (const place of places.values()) if (place.probeSince !== null) probes.later.push(place);
    }
    for (let place = top(probes.later); place && place.probeAt <= now; place = top(probes.later)) {
      probes.later.pop();
      probes.aged.push(place);
    }
    return probes;
  };

  /** What was put elsewhere leaves its old place behind: while nothing is taken those would pile up. */
  const tidy = (): void => {
    if (ready.size + later.size <= 2 * places.size + MOST_LEFT_BEHIND) return;
    ready = createHeap(goesFirst);
    later = createHeap(isEarlier);
    probes = null;
    for (const place of places.values()) later.push(place);
  };

  return {
    get size() {
      return places.size;
    },
    get room() {
      return ready.size + later.size;
    },
    put(key, due) {
      if (!due) {
        places.delete(key);
        return;
      }
      const place: Place = { ...due, key, stamp: stamps++ };
      places.set(key, place);
      later.push(place);
      if (place.probeSince !== null) probes?.later.push(place);
      tidy();
    },
    next(now) {
      probes = null;
      release(now);
      return top(ready)?.key;
    },
    dueAt: () => top(ready)?.dueAt ?? top(later)?.dueAt ?? null,
    oldest: (now) => top(probesAt(now).aged)?.key,
    oldestDueAt(now) {
      const { aged, later: unripe } = probesAt(now);
      return top(aged) ? now : (top(unripe)?.probeAt ?? null);
    },
    keys: () => places.keys(),
  };
}

function isEarlier(one: Place, other: Place): boolean {
  return one.dueAt < other.dueAt;
}

function isOlder(one: Place, other: Place): boolean {
  const [first, second] = [one.probeSince ?? 0, other.probeSince ?? 0];
  return first < second || (first === second && one.stamp < other.stamp);
}

function goesFirst(one: Place, other: Place): boolean {
  if (one.urgent !== other.urgent) return one.urgent;
  if (one.since !== other.since) return one.since < other.since;
  if (one.kind !== other.kind) return one.kind < other.kind;
  if (one.number !== other.number) return one.number < other.number;
  return one.stamp < other.stamp;
}

/** A binary heap: the least item first. */
interface Heap<T> {
  readonly size: number;
  push(item: T): void;
  peek(): T | undefined;
  pop(): T | undefined;
}

export function createHeap<T>(less: (a: T, b: T) => boolean): Heap<T> {
  const items: T[] = [];
  const at = (index: number): T => items[index] as T;
  const swap = (a: number, b: number): void => {
    const held = at(a);
    items[a] = at(b);
    items[b] = held;
  };
  const rise = (index: number): void => {
    for (let child = index; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!less(at(child), at(parent))) return;
      swap(child, parent);
      child = parent;
    }
  };
  const sink = (): void => {
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      if (left >= items.length) return;
      const right = left + 1;
      const child = right < items.length && less(at(right), at(left)) ? right : left;
      if (!less(at(child), at(parent))) return;
      swap(child, parent);
      parent = child;
    }
  };

  return {
    get size() {
      return items.length;
    },
    push(item) {
      items.push(item);
      rise(items.length - 1);
    },
    peek: () => items[0],
    pop() {
      const top = items[0];
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink();
      }
      return top;
    },
  };
}
