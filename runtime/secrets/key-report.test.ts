import { expect, test } from 'vitest';
import { keyEntries } from './key-report.ts';

const held = (id: string, ...keyIds: string[]) => ({ id, keyIds });

test.each([
  ['the active key', [held('a', 'k-1', 'k-2')], new Map(), { 'k-1': true, 'k-2': false }],
  [
    'a key that seals something, held or not',
    [held('a', 'k-1', 'k-2')],
    new Map([
      ['k-2', 1],
      ['k-3', 2],
    ]),
    { 'k-1': true, 'k-2': true, 'k-3': true },
  ],
  ['the only key that is held', [held('a', 'k-9')], new Map(), { 'k-1': true, 'k-9': true }],
  [
    'one of several that are held: not',
    [held('a', 'k-8'), held('b', 'k-9')],
    new Map(),
    { 'k-1': true, 'k-8': false, 'k-9': false },
  ],
])('is needed: %s', (_name, replicas, sealedWith, needed) => {
  const entries = keyEntries({ activeKeyId: 'k-1', sealedWith, replicas });
  expect(Object.fromEntries(entries.map((entry) => [entry.id, entry.needed]))).toEqual(needed);
  expect(entries.every((entry) => entry.removable === !entry.needed)).toBe(true);
});

test('a database that was never started on knows the keys of replicas at most', () => {
  expect(keyEntries({ activeKeyId: null, sealedWith: new Map(), replicas: [] })).toEqual([]);
});
