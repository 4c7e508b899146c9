import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { toYaml } from './yaml.ts';

test('reads like YAML', () => {
  const value = {
    a: [{ b: 1, c: [] }, 'text', ['x']],
    'd e': { f: 'no', g: null, h: {} },
    '/p/{id}': 'two words',
  };
  expect(toYaml(value)).toBe(`a:
  - b: 1
    c: []
  - text
  - - x
"d e":
  f: "no"
  g: null
  h: {}
/p/{id}: "two words"
`);
});

test('says the same as the JSON, whatever that holds', () => {
  const document = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(document, (value) => {
      const json = JSON.parse(JSON.stringify(value));
      expect(parse(toYaml(json))).toEqual(json);
    }),
  );
});
