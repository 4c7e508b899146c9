import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SHARDS } from '../actor/index.ts';
import { sameTargets, targetsOf } from './assigner.ts';

const replicas = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/), { minLength: 2, maxLength: 12 });

test('the order in which replicas are named does not matter', () => {
  fc.assert(
    fc.property(replicas, (ids) => {
      expect(sameTargets(targetsOf(ids), targetsOf([...ids].reverse()))).toBe(true);
    }),
  );
});

test('a replica that leaves gives away its own shards and moves no other; one that comes takes only for itself', () => {
  fc.assert(
    fc.property(replicas, (ids) => {
      const [gone, ...rest] = ids;
      const before = targetsOf(ids);
      const after = targetsOf(rest);
      for (let shard = 0; shard < SHARDS; shard++) {
        if (before[shard] === gone) expect(rest).toContain(after[shard]);
        else expect(after[shard]).toBe(before[shard]);
      }
    }),
  );
});

test.each([2, 3, 5, 10])('%i replicas share the shards about evenly, whatever they are called', (count) => {
  const fair = SHARDS / count;
  const spread = 4.5 * Math.sqrt(fair * (1 - 1 / count));
  for (const name of ['tocsin-', 'r', 'node-10-0-0-', 'a.b.c-']) {
    const targets = targetsOf(Array.from({ length: count }, (_, index) => `${name}${index}`));
    for (let index = 0; index < count; index++) {
      const mine = targets.filter((id) => id === `${name}${index}`).length;
      expect(Math.abs(mine - fair)).toBeLessThan(spread);
    }
  }
});

test('without replicas nobody acts', () => {
  expect(targetsOf([]).every((id) => id === null)).toBe(true);
});
