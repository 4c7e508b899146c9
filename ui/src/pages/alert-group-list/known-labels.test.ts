import { expect, it } from 'vitest';
import type { AlertGroup, Labels } from '../../api/shapes.ts';
import { completions, knownLabels } from './known-labels.ts';

const of = (common_labels: Labels) => ({ common_labels }) as AlertGroup;
const KNOWN = knownLabels([
  of({ cluster: 'us', pod: 'a"b' }),
  of({ cluster: 'eu' }),
  of({ cluster: 'us', log: 'x'.repeat(1_000) }),
]);
/** A name that comes last, in the rows and in the alphabet, and that most rows have. */
const LATE = knownLabels([
  of({ app: 'shop', zone: 'b' }),
  of({ cluster: 'eu', zone: 'a' }),
  of({ zone: 'a' }),
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

it('the most frequent name and value are completed first, wherever they stand', () => {
  expect(completions(LATE, '')).toEqual(['zone="a"', 'zone="b"', 'app="shop"', 'cluster="eu"']);
});
