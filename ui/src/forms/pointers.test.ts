import { describe, expect, it } from 'vitest';
import { differences, errorAt, pointer, same } from './pointers.ts';

it('escapes what a pointer cannot hold', () => {
  expect(pointer('static_labels', 'a/b~c', 0)).toBe('/static_labels/a~1b~0c/0');
});

describe('errorAt', () => {
  const errors = [{ pointer: '/matchers/1/value', code: 'invalid_regex', detail: '' }];
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

describe('of a long list', () => {
  const rows = Array.from({ length: 5_000 }, (_, row) => ({ key: `k${row}`, values: { a: '1', b: '2' } }));
  const changed = rows.with(3_000, { key: 'k3000', values: { a: '1', b: 'other' } });
  const reordered = rows.map(({ key, values: { a, b } }) => ({ values: { b, a }, key }));

  it('only what the other one lacks is shown', () => {
    const [found] = differences(
      { entries: changed },
      { entries: [...reordered, { key: 'new', values: {} }] },
    );
    expect(found?.pointer).toBe('/entries');
    expect(JSON.parse(found?.mine ?? '')).toEqual([changed[3_000]]);
    expect(JSON.parse(found?.theirs ?? '')).toEqual([rows[3_000], { key: 'new', values: {} }]);
  });

  it('nothing is shown where nothing is missing, and no more than can be read', () => {
    const [less] = differences({ entries: rows.slice(1) }, { entries: rows });
    expect([less?.mine, JSON.parse(less?.theirs ?? '')]).toEqual(['—', [rows[0]]]);
    const [turned] = differences({ entries: rows.toReversed() }, { entries: rows });
    expect(turned?.mine.length).toBe(10_001);
  });
});
