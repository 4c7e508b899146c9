import { describe, expect, test } from 'vitest';
import { digestOf, newCode, newToken, typedCode } from './link.ts';

/** Bytes 0, 1, 2 … over and over. */
function counting() {
  let next = 0;
  return (size: number) => Uint8Array.from({ length: size }, () => next++ % 256);
}

test('a token is 32 random bytes in 43 characters', () => {
  expect(newToken(counting())).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('each symbol of a code is as likely as the others, and none is easily mistaken for another', () => {
  const random = counting();
  const symbols = new Map<string, number>();
  // As many codes as it takes for every byte to come equally often.
  for (let made = 0; made < 31 * 8; made++) {
    for (const symbol of newCode(random)) symbols.set(symbol, (symbols.get(symbol) ?? 0) + 1);
  }
  expect([...symbols.keys()].sort().join('')).toBe('23456789ABCDEFGHJKMNPQRSTUVWXYZ');
  expect(new Set(symbols.values()).size).toBe(1);
});

describe('a code is taken as people type it', () => {
  test.each([
    ['7qf4h9xj', '7QF4H9XJ'],
    [' 7QF4 H9XJ\n', '7QF4H9XJ'],
    ['7QF4-h9xj', '7QF4H9XJ'],
    ['OQF4H9X1', 'OQF4H9X1'],
  ])('%j', (typed, code) => {
    expect(typedCode(typed)).toBe(code);
  });
});

test('equal proofs have equal digests', () => {
  expect(digestOf('7QF4H9XJ')).toEqual(digestOf('7QF4H9XJ'));
  expect(digestOf('7QF4H9XJ')).not.toEqual(digestOf('7QF4H9XK'));
});
