import { expect, test } from 'vitest';
import { ranges, shardOfHash, shardsOf } from './shard-map.ts';

test('runs of three and more numbers are written as one', () => {
  expect(ranges([])).toBe('');
  expect(ranges([7])).toBe('7');
  expect(ranges([0, 1, 2, 5, 6, 255])).toBe('0–2, 5, 6, 255');
});

test('shards are found by their owner, and those without one', () => {
  const owners = [0, 1, null, 0];
  expect(shardsOf(owners, 0)).toEqual([0, 3]);
  expect(shardsOf(owners, null)).toEqual([2]);
});

test('an address leads to a shard by its hash alone', () => {
  expect(shardOfHash('#shard-17')).toBe(17);
  expect(shardOfHash('#shard-17x')).toBeNull();
  expect(shardOfHash('')).toBeNull();
});
