import { expect, test } from 'vitest';
import { jsonText, jsonTexts } from './bulk-parameters.ts';

test.each([
  ['plain', { a: 'b"\\', n: 1 }, '{"a":"b\\"\\\\","n":1}'],
  ['a zero character', 'a\u0000b', '"a\\ufffdb"'],
  ['half a surrogate pair', 'a\ud800', '"a\\ufffd"'],
  ['the other half', '\udfffb', '"\\ufffdb"'],
  ['a whole pair', '😀', '"😀"'],
  ['an escape spelled out is left alone', 'a\\u0000', '"a\\\\u0000"'],
  ['an escape after a backslash', '\\\u0000', '"\\\\\\ufffd"'],
])('%s', (_, value, text) => {
  expect(jsonText(value)).toBe(text);
});

test('documents are kept apart whatever they hold', () => {
  expect(jsonTexts(['\x01', 2]).split('\x01')).toEqual(['"\\u0001"', '2']);
  expect(jsonTexts([])).toBe('');
});
