import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { MUTATIONS } from '../test/mutations/mutations.ts';

const root = path.resolve(import.meta.dirname, '..');

it.each(MUTATIONS)('$id finds its line once and its tests', ({ file, find, replace, tests }) => {
  expect(readFileSync(path.join(root, file), 'utf8').split(find)).toHaveLength(2);
  expect(replace).not.toBe(find);
  for (const test of tests) expect([test, existsSync(path.join(root, test))]).toEqual([test, true]);
});

it('mutations have names of their own', () => {
  expect(new Set(MUTATIONS.map(({ id }) => id)).size).toBe(MUTATIONS.length);
});
