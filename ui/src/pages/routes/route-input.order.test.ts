import { describe, expect, it } from 'vitest';
import { dropPlace, movedTo } from './route-input.ts';

describe('moving a Route', () => {
  it.each([
    ['b', 0, ['b', 'a', 'c']],
    ['b', 2, ['a', 'c', 'b']],
    ['a', -1, ['a', 'b', 'c']],
    ['c', 9, ['a', 'b', 'c']],
    ['a', 1.9, ['b', 'a', 'c']],
    ['x', 1, ['a', 'b', 'c']],
  ] as const)('%s to %d', (id, place, expected) => {
    expect(movedTo(['a', 'b', 'c'], id, place)).toEqual(expected);
  });

  it.each([
    ['a', 'c', ['b', 'c', 'a']],
    ['c', 'a', ['c', 'a', 'b']],
    ['b', 'default', ['a', 'c', 'b']],
  ])('%s dropped on %s takes its place', (id, target, expected) => {
    const ids = ['a', 'b', 'c'];
    expect(movedTo(ids, id, dropPlace(ids, target))).toEqual(expected);
  });
});
