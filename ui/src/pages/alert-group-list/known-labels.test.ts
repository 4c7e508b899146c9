import { expect, it } from 'vitest';
import type { AlertGroup, Labels } from '../../api/shapes.ts';
import { completions, knownLabels } from './known-labels.ts';

const of = (common_labels: Labels) => ({ common_labels }) as AlertGroup;
const KNOWN = knownLabels([
  of({ cluster: 'us', pod: 'a"b' }),
  of({ cluster: 'eu' }),
  of({ cluster: 'us', log: 'x'.repeat(1_000) }),
]);

it.each([
  ['', ['cluster="us"', 'cluster="eu"', 'pod="a\\"b"']],
  ['CLU', ['cluster="us"', 'cluster="eu"']],
  ['cluster="u', ['cluster="us"']],
  ['node', []],
  ['log', []],
])('%j is completed with %j', (typed, matchers) => {
  expect(completions(KNOWN, typed)).toEqual(matchers);
});
