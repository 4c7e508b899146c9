import { expect, test } from 'vitest';
import { extractValues } from './send-request.ts';

const extract = (path: string, body: string | null) => {
  const { values, missing } = extractValues([{ name: 'a', path }], body === null ? null : Buffer.from(body));
  return missing.length > 0 ? missing : values.a;
};

test.each([
  ['$.id', '{"id":"x"}', 'x'],
  ['$.id', '{"id":9007199254740993}', '9007199254740993'],
  ['$.id', '{"id":1.50}', '1.50'],
  ['$.id', '{"id":false}', 'false'],
  ['$.id', '{"id":""}', ''],
  ['$..id', '{"a":[{"id":1},{"id":2}]}', '1'],
])('%s of %s is %j', (path, body, expected) => {
  expect(extract(path, body)).toBe(expected);
});

test.each([
  ['no JSON', '$', 'ok'],
  ['two values', '$', '1 2'],
  ['an empty answer', '$', ''],
  ['more than can be read', '$', null],
  ['no node', '$.x', '{}'],
  ['null', '$.x', '{"x":null}'],
  ['an object', '$.x', '{"x":{}}'],
  ['an array', '$.x', '{"x":[1]}'],
  ['a value of too many bytes', '$', JSON.stringify('x'.repeat(4_097))],
])('%s is nothing found', (_what, path, body) => {
  expect(extract(path, body)).toEqual(['a']);
});

test('every rule is looked at', () => {
  const rules = [
    { name: 'a', path: '$.a' },
    { name: 'b', path: '$.b' },
  ];
  expect(extractValues(rules, Buffer.from('{"b":1}'))).toEqual({ values: { b: '1' }, missing: ['a'] });
});
