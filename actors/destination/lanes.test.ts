import { expect, test } from 'vitest';
import type { PublicId } from '../../runtime/public-id.ts';
import type { WebhookSend } from './effects.ts';
import { createLanes } from './lanes.ts';

function lanes() {
  const begun: string[] = [];
  const finishers = new Map<string, () => void>();
  const made = createLanes((effect) => {
    begun.push(effect.eventId);
    return new Promise((done) => finishers.set(effect.eventId, done));
  });
  const finish = async (eventId: string): Promise<void> => {
    finishers.get(eventId)?.();
    await new Promise((next) => setImmediate(next));
  };
  return { ...made, begun, finish };
}

function effect(eventId: string, destinationId = 'DS1', urgent = false): WebhookSend {
  return {
    type: 'webhook.send',
    destinationId: destinationId as PublicId,
    eventId,
    groupId: 'AG1' as PublicId,
    event: 'created',
    urgent,
    occurredAt: 0,
    call: 1,
    attempt: 1,
    isProbe: false,
  };
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
  const { add, empty, begun, finish } = lanes();
  for (let index = 0; index < 12; index++) add(effect(`e${index}`));
  expect(empty('DS1').map((waiting) => waiting.eventId)).toEqual(['e10', 'e11']);
  expect(empty('DS2')).toEqual([]);
  await finish('e0');
  expect(begun).toHaveLength(10);
});
