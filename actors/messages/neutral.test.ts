import { expect, test } from 'vitest';
import { cutPoints, cutUnits, mentionless, oneLine, severalLines } from './neutral.ts';

test.each([
  ['white space becomes one space', ' a\r\n\t b\u2028c ', 'a b c'],
  ['control characters go', 'a\u0000\u001b[31mb\u0085', 'a[31mb'],
  ['private marks of templates go', 'a\uE000\uE001\uE002b', 'ab'],
  ['marks that turn the direction of what follows go', 'a\u202Eb\u2066c\u200E', 'abc\u200E'],
  ['half a character becomes the replacement character', 'a\uD83Db', 'a\uFFFDb'],
  ['everything else stays', '🔥 é <b> @x', '🔥 é <b> @x'],
])('in one line %s', (_name, value, expected) => {
  expect(oneLine(value)).toBe(expected);
});

test('lines and tabs stay where a value keeps them', () => {
  expect(severalLines('a\r\n\tb\u0007\n')).toBe('a\n\tb\n');
});

test.each(['a', 'я', '🔥'])('a value of %s is cut to its bytes on a character boundary', (character) => {
  const cut = oneLine(character.repeat(1_000_000));
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(4_096);
  expect(Buffer.byteLength(cut)).toBeGreaterThan(4_096 - 4);
  expect(cut).toMatch(/^(.)\1*…$/u);
});

test('names nobody, and stays the same when it is said again', () => {
  expect(mentionless('@a@@b')).toBe('@\u200Ba@\u200B@\u200Bb');
  expect(mentionless(mentionless('@a'))).toBe('@\u200Ba');
});

test.each([
  ['🔥🔥', 2, '🔥🔥'],
  ['🔥🔥🔥', 2, '🔥…'],
  ['ab', 1, '…'],
])('%s cut to %i code points', (value, most, expected) => {
  expect(cutPoints(value, most)).toBe(expected);
});

test.each([
  ['🔥🔥', 4, '🔥🔥'],
  ['🔥🔥', 3, '🔥…'],
  ['a🔥🔥', 4, 'a🔥…'],
  ['a🔥🔥', 3, 'a…'],
])('%s cut to %i units never ends in half a character', (value, most, expected) => {
  expect(cutUnits(value, most)).toBe(expected);
});
