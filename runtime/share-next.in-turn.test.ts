import { expect, it } from 'vitest';
import { BusyError } from './actor/index.ts';
import { createTurns } from './share-next.ts';

const told = (error: unknown) => error;

it('runs one after the other, whatever became of the one before', async () => {
  const inTurn = createTurns('stories', 10);
  const log: string[] = [];
  const work = (name: string, fails: boolean) =>
    inTurn(async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    }).catch(String);
  expect(await Promise.all([work('a', true), work('b', false), work('c', false)])).toEqual([
    'Error: a',
    'b',
    'c',
  ]);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

it('refuses what would wait behind too many, until one of them is done', async () => {
  const inTurn = createTurns('stories', 1);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const first = inTurn(() => gate);
  const second = inTurn(async () => 2);
  expect(await inTurn(async () => 3).catch(told)).toEqual(new BusyError('too many stories wait'));
  open();
  await first;
  expect(await Promise.all([second, inTurn(async () => 4)])).toEqual([2, 4]);
});
