import { describe, expect, test } from 'vitest';
import { read } from './reading.ts';

function told(text: string): string {
  const { units, length } = read(text);
  return String.fromCharCode(...units.subarray(0, length));
}

test.each([
  ['plain letters', 'plain letters'],
  ['%41%c3%B6%F0%9F%94%A5', 'Aö🔥'],
  ['&lt;&#60;&#x3C;&#x0003c;&#128293;&apos;', "<<<<🔥'"],
  ['\\u0041\\u00F6\\ud83d\\udd25', 'Aö🔥'],
  ['\\"\\/\\\\x', '"/x'],
  ['a\\nb\nc', 'anbnc'],
  ['a+b c', 'a b c'],
  // One inside the other.
  ['%2541', 'A'],
  ['%26lt;', '<'],
  ['&#37;41', 'A'],
  ['&amp;amp;#x26;lt;', '<'],
  ['%5Cu0041', 'A'],
  ['\\\\\\\\u0041', 'A'],
  ['\\u0025\\u0034\\u0031', 'A'],
  ['%25%34%31', 'A'],
  ['%%34%31', 'A'],
  ['%25c3%25b6', 'ö'],
  // No escapes.
  ['100% &c; u0041 &#0; &#xffffff; %4 %zz', '100% &c; u0041 &#0; &#xffffff; %4 %zz'],
  ['&constructor;', '&constructor;'],
])('%s is read as %s', (text, meant) => {
  expect(told(text)).toBe(meant);
});

test('bytes that are no character stay apart from what is', () => {
  expect(read('%c3x').length).toBe(2);
  expect(read('%b6').length).toBe(1);
  expect(read('%f7%bf%bf%bf').length).toBe(4);
  expect([...read('%c3').units.subarray(0, 1)]).not.toEqual([...read('Ã').units]);
});

describe('it is known where everything was written', () => {
  test.each([
    ['a%41b', [0, 1, 4], [1, 4, 5]],
    ['a\\\\"b', [0, 3, 4], [1, 4, 5]],
    ['a\\\\u0041b', [0, 3, 8], [1, 8, 9]],
    ['&amp;lt;b', [0, 8], [8, 9]],
    ['%F0%9F%94%A5b', [0, 0, 12], [12, 12, 13]],
  ])('%s', (text, starts, ends) => {
    const reading = read(text);
    expect([...reading.starts.subarray(0, reading.length)]).toEqual(starts);
    expect([...reading.ends.subarray(0, reading.length)]).toEqual(ends);
  });
});

test.each([
  ['that each complete the one before', `${'%3'.repeat(300_000)}4`],
  ['inside one another', `${'&amp;'.repeat(1)}${'amp;'.repeat(200_000)}`],
  ['that do not end', '&#x'.repeat(300_000)],
  ['that are only backslashes', '\\'.repeat(1_000_000)],
  ['that are half a backslash', '%5'.repeat(400_000)],
])('escapes %s are read in one walk', (_, text) => {
  expect(read(text).length).toBeLessThanOrEqual(text.length);
});
