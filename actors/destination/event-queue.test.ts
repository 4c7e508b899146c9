import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import { createEventQueue, type WaitingEvent } from './event-queue.ts';

function event(id: string, group: number, urgent: boolean, occurredAt: number): WaitingEvent {
  return {
    id,
    groupId: `AG${group}` as PublicId,
    sequence: 1,
    event: 'created',
    urgent,
    occurredAt,
    calls: 0,
    unread: 0,
    attempts: 0,
    firstFailedAt: null,
    notBefore: 0,
    exact: false,
  };
}

const byAge = (a: WaitingEvent, b: WaitingEvent): number =>
  a.occurredAt - b.occurredAt || (a.id < b.id ? -1 : 1);
const byTurn = (a: WaitingEvent, b: WaitingEvent): number =>
  Number(b.urgent) - Number(a.urgent) || byAge(a, b);

/** What a queue is to answer, found by looking at every line. */
function plain() {
  const lines = new Map<string, WaitingEvent[]>();
  const flying = new Set<WaitingEvent>();
  const heads = () => [...lines.values()].flatMap((line) => line[0] ?? []).filter((one) => !flying.has(one));
  return {
    lines,
    flying,
    nextDue: (now: number) =>
      heads()
        .filter((one) => one.notBefore <= now)
        .sort(byTurn)[0],
    oldest: (now: number) =>
      heads()
        .filter((one) => !one.exact || one.notBefore <= now)
        .sort(byAge)[0],
  };
}

const step = fc.record({
  kind: fc.constantFrom('add', 'add', 'send', 'probe', 'fail', 'ask_to_wait', 'end', 'renew', 'look', 'pass'),
  group: fc.integer({ min: 0, max: 5 }),
  urgent: fc.boolean(),
  by: fc.integer({ min: 0, max: 8 }),
});

describe('whatever happened before', () => {
  test('the next to send and the oldest are those that a search of every line finds', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const queue = createEventQueue();
        const model = plain();
        let now = 1;
        for (const [index, { kind, group, urgent, by }] of steps.entries()) {
          const flying = [...model.flying][by % Math.max(1, model.flying.size)];
          if (kind === 'add') {
            const added = event(`e${index}`, group, urgent, (index * 7) % 50);
            queue.add(added);
            model.lines.set(added.groupId, [...(model.lines.get(added.groupId) ?? []), added]);
          }
          if (kind === 'send' || kind === 'probe') {
            const chosen = kind === 'send' ? queue.nextDue(now) : queue.oldest(now);
            expect(chosen).toBe(kind === 'send' ? model.nextDue(now) : model.oldest(now));
            if (chosen) {
              queue.start(chosen, now + 100);
              model.flying.add(chosen);
            }
          }
          if ((kind === 'fail' || kind === 'ask_to_wait') && flying) {
            flying.exact = kind === 'ask_to_wait';
            flying.notBefore = by === 0 ? 0 : now + by;
            queue.putBack(flying);
            model.flying.delete(flying);
          }
          if (kind === 'end' && flying) {
            queue.remove(flying);
            model.flying.delete(flying);
            model.lines.get(flying.groupId)?.shift();
          }
          if (kind === 'renew') queue.renew();
          if (kind === 'look') expect(queue.oldest(now)).toBe(model.oldest(now));
          if (kind === 'pass') now += by;
        }
        expect(queue.oldest(now)).toBe(model.oldest(now));
        expect(queue.nextDue(now)).toBe(model.nextDue(now));
        expect(queue.oldest(now)).toBe(model.oldest(now));
      }),
      { numRuns: 500 },
    );
  });
});

test('a renewal ends a wait of our own, and never one that the receiver asked for', () => {
  const queue = createEventQueue();
  for (const [id, exact] of [
    ['own', false],
    ['asked', true],
  ] as const) {
    const waiting = event(id, exact ? 1 : 2, false, 0);
    queue.add(waiting);
    queue.start(waiting, 100);
    Object.assign(waiting, { exact, notBefore: 50, attempts: 3 });
    queue.putBack(waiting);
  }
  expect(queue.nextDue(10)).toBeUndefined();
  queue.renew();
  const own = queue.nextDue(10);
  expect(own).toMatchObject({ id: 'own', attempts: 0 });
  if (own) queue.remove(own);
  expect(queue.nextDue(49)).toBeUndefined();
  expect(queue.dueAt()).toBe(50);
  expect(queue.nextDue(50)).toMatchObject({ id: 'asked', attempts: 0 });
});
