import { expect, test } from 'vitest';
import { keyEntries } from './key-report.ts';

const NOTHING_USED = { sealedWith: new Map(), signedWith: new Map() } as const;
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
  const entries = keyEntries({ activeKeyId: 'k-1', sealedWith, signedWith: new Map(), replicas });
  expect(Object.fromEntries(entries.map((entry) => [entry.id, entry.needed]))).toEqual(needed);
  expect(entries.every((entry) => entry.removable === !entry.needed)).toBe(true);
});

test('a key that signed a button which can still be pressed is needed', () => {
  const replicas = [held('a', 'k-1', 'k-2')];
  const entries = keyEntries({
    ...NOTHING_USED,
    activeKeyId: 'k-1',
    signedWith: new Map([['k-2', 1]]),
    replicas,
  });
  expect(entries.find(({ id }) => id === 'k-2')).toMatchObject({ needed: true, removable: false });
});

test('a database that was never started on knows the keys of replicas at most', () => {
  expect(keyEntries({ ...NOTHING_USED, activeKeyId: null, replicas: [] })).toEqual([]);
});
