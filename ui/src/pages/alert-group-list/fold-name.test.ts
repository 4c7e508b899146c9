import { expect, it } from 'vitest';
import { toLabelName } from './fold-name.ts';

it.each([
  ['namespace', 'namespace'],
  ['  pod_name ', 'pod_name'],
  ['service.name', 'service.name'],
  ['зона', 'зона'],
  ['', null],
  ['two words', null],
  ['team="shop"', null],
  ['team=~', null],
  ['{team}', null],
  ['a,b', null],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), null],
])('%j is the label %j', (typed, name) => {
  expect(toLabelName(typed)).toBe(name);
});
