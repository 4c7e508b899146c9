import { expect, test } from 'vitest';
import { integrationAddress } from '../../actors/integration/messages.ts';
import { SHARDS, shardOf } from '../actor/index.ts';
import { newPublicId } from '../public-id.ts';
import { createWake } from './ground.ts';

test('a wake-up before the engine is attached is dropped', () => {
  const wake = createWake();
  const woken: (readonly number[])[] = [];
  wake.everyone();
  wake.attach((shards) => woken.push(shards));
  expect(woken).toEqual([]);
});

test("everyone wakes every shard once, and an actor's wake-up only its own shard", () => {
  const wake = createWake();
  const woken: (readonly number[])[] = [];
  wake.attach((shards) => woken.push(shards));
  const actor = integrationAddress(newPublicId('NT'));
  wake.everyone();
  wake.owner(actor);
  expect(woken[0]).toEqual(Array.from({ length: SHARDS }, (_, shard) => shard));
  expect(woken.slice(1)).toEqual([[shardOf(actor)]]);
});
