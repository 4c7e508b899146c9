import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createHeap } from './heap.ts';

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
