import { expect, test } from 'vitest';
import { type AnyActorDefinition, ConflictError, StoreUnavailableError } from '../actor/index.ts';
import { withPatientLookUps } from './actors.ts';

test('a look-up is told what waits behind its message', async () => {
  const looked: unknown[] = [];
  const definition = {
    prepare: async (...told: readonly unknown[]) => void looked.push(told),
  } as unknown as AnyActorDefinition;
  const following = [{ type: 'later' }];
  await withPatientLookUps(definition).prepare?.('actor' as never, { type: 'now' }, following);
  expect(looked).toEqual([['actor', { type: 'now' }, following]]);
});

test.each([
  ['42501', 'no rights', StoreUnavailableError],
  ['42P01', 'a missing table', StoreUnavailableError],
  ['57P01', 'a server that stops', StoreUnavailableError],
  ['40001', 'another transaction', ConflictError],
])('a look-up that meets %s (%s) is no defect of its message', async (code, _what, expected) => {
  const definition = {
    prepare: () => Promise.reject(Object.assign(new Error('refused'), { code })),
  } as unknown as AnyActorDefinition;
  const looked = withPatientLookUps(definition).prepare?.('actor' as never, { type: 'now' }, []);
  await expect(looked).rejects.toBeInstanceOf(expected);
});

test('a look-up that fails for what it was asked is one', async () => {
  const refused = Object.assign(new Error('invalid byte sequence'), { code: '22021' });
  const definition = { prepare: () => Promise.reject(refused) } as unknown as AnyActorDefinition;
  const looked = withPatientLookUps(definition).prepare?.('actor' as never, { type: 'now' }, []);
  await expect(looked).rejects.toBe(refused);
});
