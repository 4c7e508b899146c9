/** What waits to be done at one Connection, in the order in which it is done (delivery §3.6). */
import type { Micros } from '../../../runtime/clock.ts';
import { createHeap } from '../heap.ts';
import type { Delivery } from './delivery.ts';
import { placeOf, type Work } from './work.ts';

export interface Agenda {
  readonly size: number;
  /** Puts a delivery in its place, or takes it out when it has nothing to do. */
  put(key: string, delivery: Delivery, work: Work | null): void;
  /** The delivery that goes next; it stays until it is put elsewhere. */
  next(now: Micros): string | undefined;
  /** When the first is due; null while nothing waits. */
  dueAt(): Micros | null;
  keys(): IterableIterator<string>;
}

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
  const ready = createHeap<Place>(goesFirst);
  const later = createHeap<Place>((one, other) => one.dueAt < other.dueAt);
  let stamps = 0;

  const clear = (heap: typeof ready): Place | undefined => {
    for (let place = heap.peek(); place; place = heap.peek()) {
      if (places.get(place.key) === place) return place;
      heap.pop();
    }
    return undefined;
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

function goesFirst(one: Place, other: Place): boolean {
  if (one.urgent !== other.urgent) return one.urgent;
  if (one.dueAt !== other.dueAt) return one.dueAt < other.dueAt;
  if (one.kind !== other.kind) return one.kind < other.kind;
  if (one.number !== other.number) return one.number < other.number;
  return one.stamp < other.stamp;
}
