import { expect, test } from 'vitest';
import { integrationAddress } from '../../actors/integration/messages.ts';
import { SHARDS, shardOf } from '../actor/index.ts';
import { newPublicId } from '../public-id.ts';
import { createPort, createWake } from './ports.ts';

function woken() {
  const polls: (readonly number[] | 'here')[] = [];
  return { polls, poke: () => polls.push('here'), call: (shards: readonly number[]) => polls.push(shards) };
}

test('a wake-up before the engine is attached is dropped', () => {
  const wake = createWake();
  const engine = woken();
  wake.everyone();
  wake.here();
  wake.attach(engine);
  expect(engine.polls).toEqual([]);
});

test("everyone wakes every shard once, an actor's wake-up only its shard, and one here no other process", () => {
  const wake = createWake();
  const engine = woken();
  wake.attach(engine);
  const actor = integrationAddress(newPublicId('NT'));
  wake.everyone();
  wake.owner(actor);
  wake.here();
  const every = Array.from({ length: SHARDS }, (_, shard) => shard);
  expect(engine.polls).toEqual(['here', every, 'here', [shardOf(actor)], 'here']);
});

test('a port gives what it was filled with, and is filled once and before it is used', () => {
  const port = createPort<number>('answers');
  expect(() => port.get()).toThrow('The port answers is not filled');
  port.fill(42);
  expect(port.get()).toBe(42);
  expect(() => port.fill(43)).toThrow('The port answers is filled twice');
});
