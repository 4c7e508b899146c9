/** What waits to be done at one Connection, in the order in which it is done (delivery §3.6). */
import type { Micros } from '../../../runtime/clock.ts';
import { createHeap } from '../heap.ts';
import type { Delivery } from './delivery.ts';
import { placeOf, type Work } from './work.ts';

export interface Agenda {
  readonly size: number;
  /** Places in memory, those left behind included. */
  readonly room: number;
  /** Puts a delivery in its place, or takes it out when it has nothing to do. */
  put(key: string, delivery: Delivery, work: Work | null): void;
  /** The delivery that goes next; it stays until it is put elsewhere. */
  next(now: Micros): string | undefined;
  /** When the first is due; null while nothing waits. */
  dueAt(): Micros | null;
  keys(): IterableIterator<string>;
}

/** Old places beside as many as there are present ones. */
const MOST_LEFT_BEHIND = 64;

interface Place {
  readonly key: string;
  readonly urgent: boolean;
  readonly dueAt: Micros;
  readonly kind: number;
  readonly number: number;
  /** Order of coming, for what is equal in everything else. */
  readonly stamp: number;
}

export function createAgenda(): Agenda {
  const places = new Map<string, Place>();
  let ready = createHeap<Place>(goesFirst);
  let later = createHeap<Place>(isEarlier);
  let stamps = 0;

  const clear = (heap: typeof ready): Place | undefined => {
    for (let place = heap.peek(); place; place = heap.peek()) {
      if (places.get(place.key) === place) return place;
      heap.pop();
    }
    return undefined;
  };

  /** What was put elsewhere leaves its old place behind: while nothing is taken those would pile up. */
  const tidy = (): void => {
    if (ready.size + later.size <= 2 * places.size + MOST_LEFT_BEHIND) return;
    ready = createHeap(goesFirst);
    later = createHeap(isEarlier);
    for (const place of places.values()) later.push(place);
  };

  return {
    get size() {
      return places.size;
    },
    put(key, { urgent, number, subject }, work) {
      if (!work) {
        places.delete(key);
        return;
      }
      const place: Place = {
        key,
        urgent,
        dueAt: work.dueAt,
        kind: placeOf(work),
        // A Storm is told of before its groups.
        number: subject.kind === 'storm' ? 0 : (number ?? Number.POSITIVE_INFINITY),
        stamp: stamps++,
      };
      places.set(key, place);
      later.push(place);
      tidy();
    },
    get room() {
      return ready.size + later.size;
    },
    next(now) {
      for (let place = clear(later); place && place.dueAt <= now; place = clear(later)) {
        later.pop();
        ready.push(place);
      }
      return clear(ready)?.key;
    },
    dueAt: () => clear(ready)?.dueAt ?? clear(later)?.dueAt ?? null,
    keys: () => places.keys(),
  };
}

function isEarlier(one: Place, other: Place): boolean {
  return one.dueAt < other.dueAt;
}

function goesFirst(one: Place, other: Place): boolean {
  if (one.urgent !== other.urgent) return one.urgent;
  if (one.dueAt !== other.dueAt) return one.dueAt < other.dueAt;
  if (one.kind !== other.kind) return one.kind < other.kind;
  if (one.number !== other.number) return one.number < other.number;
  return one.stamp < other.stamp;
}
