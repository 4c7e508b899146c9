import { describe, expect, it } from 'vitest';
import { differences, errorAt, pointer, same } from './pointers.ts';

it('escapes what a pointer cannot hold', () => {
  expect(pointer('static_labels', 'a/b~c', 0)).toBe('/static_labels/a~1b~0c/0');
});

describe('errorAt', () => {
  const errors = [
    { pointer: '/matchers/1/value', code: 'invalid_regex', detail: '', line: null, column: null },
  ];
  it.each([
    ['/matchers/1/value', false, true],
    ['/matchers', false, false],
    ['/matchers', true, true],
    ['/matcher', true, false],
  ])('%s deep=%s found=%s', (at, deep, found) => {
    expect(errorAt(errors, at, deep) !== undefined).toBe(found);
  });
});

it.each([
  [{ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }, true],
  [['x', 'y'], ['y', 'x'], false],
  [{ a: undefined }, {}, false],
  [[], {}, false],
  [null, {}, false],
])('%j and %j say the same: %s', (one, other, expected) => {
  expect(same(one, other)).toBe(expected);
});

it('lists the fields that differ', () => {
  const mine = { name: 'a', policy: { storm: 1, on: true }, keys: ['x'] };
  const theirs = { name: 'a', policy: { storm: 2, on: true }, keys: ['x', 'y'] };
  expect(differences(mine, theirs).map((each) => each.pointer)).toEqual(['/policy/storm', '/keys']);
});
