import { expect, it } from 'vitest';
import { bytesOf, formatBytes, prettyJson } from './outside-text.ts';

it('JSON is indented, anything else is left as it is', () => {
  expect(prettyJson('{"a":[1,{"b":null}]}')).toBe(
    '{\n  "a": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}',
  );
  expect(prettyJson('{"a":')).toBeNull();
});

it.each([
  [999, '999 bytes'],
  [1_400, '1.4 kB'],
  [24_600, '25 kB'],
  [2_000_000, '2 MB'],
])('%d bytes are %s', (bytes, text) => expect(formatBytes(bytes, 'en-GB')).toBe(text));

it('base64 gives back every byte', () => {
  expect([...bytesOf('AP+A')]).toEqual([0, 255, 128]);
});
