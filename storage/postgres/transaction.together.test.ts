import { expect, test } from 'vitest';
import { together } from './transaction.ts';

test('gives all results in order', async () => {
  const late = new Promise<number>((resolve) => setImmediate(resolve, 1));
  expect(await together(late, Promise.resolve('a'))).toEqual([1, 'a']);
});

test('throws what failed first, after everything has settled', async () => {
  let settled = false;
  const late = new Promise<void>((resolve) =>
    setImmediate(() => {
      settled = true;
      resolve();
    }),
  );
  const later = late.then(() => Promise.reject(new Error('second')));
  await expect(together(later, Promise.reject(new Error('first')), late)).rejects.toThrow('first');
  expect(settled).toBe(true);
});
