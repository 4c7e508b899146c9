import { expect, test } from 'vitest';
import type { AnyActorDefinition } from '../actor/index.ts';
import { withPatientLookUps } from './engine.ts';

test('a look-up is told what waits behind its message', async () => {
  const looked: unknown[] = [];
  const definition = {
    prepare: async (...told: readonly unknown[]) => void looked.push(told),
  } as unknown as AnyActorDefinition;
  const following = [{ type: 'later' }];
  await withPatientLookUps(definition).prepare?.('actor' as never, { type: 'now' }, following);
  expect(looked).toEqual([['actor', { type: 'now' }, following]]);
});
