import { expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import { createLanes, type LaneCall } from './pacing.ts';

interface Made extends LaneCall {
  readonly eventId: string;
}

function lanes() {
  const begun: string[] = [];
  const finishers = new Map<string, () => void>();
  const made = createLanes<Made>(({ eventId }) => {
    begun.push(eventId);
    return new Promise((done) => finishers.set(eventId, done));
  });
  const finish = async (eventId: string): Promise<void> => {
    finishers.get(eventId)?.();
    await new Promise((next) => setImmediate(next));
  };
  return { ...made, begun, finish };
}

function effect(eventId: string, destinationId = 'DS1', urgent = false): Made {
  return { eventId, destinationId: destinationId as PublicId, urgent, atOnce: 10 };
}

test('ten requests of a Destination are under way together; the next begins when one ends, Urgent first', async () => {
  const { add, begun, finish } = lanes();
  for (let index = 0; index < 12; index++) add(effect(`e${index}`));
  add(effect('urgent', 'DS1', true));
  expect(begun).toHaveLength(10);
  await finish('e3');
  await finish('e4');
  expect(begun.slice(10)).toEqual(['urgent', 'e10']);
});

test('Destinations do not wait for each other', () => {
  const { add, begun } = lanes();
  for (let index = 0; index < 11; index++) add(effect(`e${index}`));
  add(effect('other', 'DS2'));
  expect(begun.at(-1)).toBe('other');
});

test('what has not begun can be taken out', async () => {
  const { add, takeOut, begun, finish } = lanes();
  for (let index = 0; index < 13; index++) add(effect(`e${index}`));
  expect(takeOut(({ eventId }) => eventId !== 'e11').map(({ eventId }) => eventId)).toEqual(['e10', 'e12']);
  expect(takeOut(({ eventId }) => eventId === 'e10')).toEqual([]);
  await finish('e1');
  expect(begun.slice(10)).toEqual(['e11']);
});
