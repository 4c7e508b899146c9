import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import { NO_TRIES } from './delivery/delivery.ts';
import { renewed } from './delivery/work.ts';
import { createHeap, createQueue, type Due } from './queue.ts';
import { newLine } from './rows.ts';

const step = fc.record({
  kind: fc.constantFrom('put', 'put', 'put', 'take', 'probe', 'look', 'pass'),
  key: fc.integer({ min: 0, max: 7 }),
  urgent: fc.boolean(),
  probeIn: fc.integer({ min: 0, max: 8 }),
  isReply: fc.boolean(),
  since: fc.integer({ min: 0, max: 30 }),
  by: fc.integer({ min: 0, max: 8 }),
});

/** What a queue is to answer, found by looking at everything that waits; each place with its order of coming. */
function plain() {
  const places = new Map<string, Due & { readonly stamp: number }>();
  const first = (
    keep: (due: Due) => boolean,
    order: (one: Due & { stamp: number }, other: Due & { stamp: number }) => number,
  ) => [...places].filter(([, due]) => keep(due)).sort(([, one], [, other]) => order(one, other))[0]?.[0];
  return {
    places,
    next: (now: number) =>
      first(
        ({ dueAt }) => dueAt <= now,
        (one, other) =>
          Number(other.urgent) - Number(one.urgent) || one.since - other.since || one.stamp - other.stamp,
      ),
    oldest: (now: number) =>
      first(
        ({ probeSince, probeAt }) => probeSince !== null && probeAt <= now,
        (one, other) => (one.probeSince ?? 0) - (other.probeSince ?? 0) || one.stamp - other.stamp,
      ),
    oldestDueAt(now: number) {
      const times = [...places.values()].filter((due) => due.probeSince !== null).map((due) => due.probeAt);
      return times.length === 0 ? null : Math.max(now, Math.min(...times));
    },
  };
}

describe('whatever happened before', () => {
  test('the next to send and the oldest are those that a search of everything finds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const queue = createQueue();
        const model = plain();
        let now = 1;
        for (const [stamp, { kind, key, urgent, probeIn, isReply, since, by }] of steps.entries()) {
          const name = `delivery ${key}`;
          if (kind === 'put') {
            const due: Due = {
              ...{ urgent, since, kind: 0, number: 0 },
              dueAt: by === 0 ? 0 : now + by,
              probeSince: isReply ? null : since,
              probeAt: probeIn === 0 ? 0 : now + probeIn,
            };
            queue.put(name, due);
            model.places.set(name, { ...due, stamp });
          }
          if (kind === 'take' || kind === 'probe') {
            const chosen = kind === 'take' ? queue.next(now) : queue.oldest(now);
            expect(chosen).toBe(kind === 'take' ? model.next(now) : model.oldest(now));
            if (chosen === undefined) continue;
            queue.put(chosen, null);
            model.places.delete(chosen);
          }
          if (kind === 'look') {
            expect(queue.oldestDueAt(now)).toBe(model.oldestDueAt(now));
            expect(queue.oldest(now)).toBe(model.oldest(now));
          }
          if (kind === 'pass') now += by;
          expect(queue.size).toBe(model.places.size);
        }
        expect(queue.oldest(now)).toBe(model.oldest(now));
        expect(queue.next(now)).toBe(model.next(now));
        expect(queue.oldest(now)).toBe(model.oldest(now));
      }),
      { numRuns: 500 },
    );
  });
});

test('a renewal ends a wait of our own, and never one that the receiver asked for', () => {
  const event = { id: 'e', sequence: 1, event: 'created', urgent: false, occurredAt: 0, calls: 1 } as const;
  const tries = { ...NO_TRIES, notBefore: 50, attempts: 3, error: 'answered 503' };
  const line = { ...newLine('AG1' as PublicId), root: 'wanted', events: [event] } as const;
  expect(renewed({ ...line, tries }, 10).tries).toEqual(NO_TRIES);
  expect(renewed({ ...line, tries: { ...tries, exact: true } }, 10).tries).toEqual({
    ...NO_TRIES,
    ...{ notBefore: 50, exact: true },
  });
});

test('gives what was put in, least first', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), (numbers) => {
      const heap = createHeap<number>((a, b) => a < b);
      for (const number of numbers) heap.push(number);
      const given = numbers.map(() => heap.pop());
      expect(given).toEqual([...numbers].sort((a, b) => a - b));
      expect([heap.pop(), heap.size]).toEqual([undefined, 0]);
    }),
  );
});
