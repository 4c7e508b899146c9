import { expect, it } from 'vitest';
import type { AlertGroup, GroupFolds, Labels } from '../../api/shapes.ts';
import { foldedLabels, foldedNames, knownLabels, labelNames, withMore } from './known-labels.ts';
import { completions } from './typed-labels.ts';

type Fold = GroupFolds['items'][number];
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

it('values of folds are in their order, without those that nobody completes', () => {
  const fold = (value: string | null, alert_group_count: number) => ({ value, alert_group_count }) as Fold;
  const items = [fold('us', 70), fold('x'.repeat(201), 9), fold('eu', 2), fold(null, 90)];
  expect(completions(foldedLabels('cluster', { items }), '')).toEqual(['cluster="us"', 'cluster="eu"']);
});

it('names of folds are in their order, however odd, and those of the loaded rows follow', () => {
  const fold = (value: string | null, alert_group_count: number) => ({ value, alert_group_count }) as Fold;
  const found = foldedNames({
    items: [fold('zone', 70), fold('__proto__', 9), fold('pod', 2), fold(null, 90)],
  });
  expect([...labelNames(found, KNOWN)]).toEqual([
    ['zone', 70],
    ['__proto__', 9],
    ['pod', 2],
    ['cluster', 3],
  ]);
  expect([...labelNames(new Map(), KNOWN)]).toEqual([
    ['cluster', 3],
    ['pod', 1],
  ]);
});

it('values of the loaded rows follow those of the folds that lack them', () => {
  const known = knownLabels([of({ pod: 'a', app: 'shop' }), of({ pod: 'c' })]);
  const folds = foldedLabels('pod', {
    items: [
      { value: 'b', alert_group_count: 7 },
      { value: 'a', alert_group_count: 2 },
    ] as Fold[],
  });
  expect([...withMore(folds, known).get('pod')!]).toEqual([
    ['b', 7],
    ['a', 2],
    ['c', 1],
  ]);
  expect(completions(withMore(folds, known), 'app')).toEqual(['app="shop"']);
});
