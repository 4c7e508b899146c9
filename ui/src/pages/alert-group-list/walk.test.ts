import { expect, it } from 'vitest';
import type { AlertGroup } from '../../api/shapes.ts';
import { NO_FILTERS } from './filters.ts';
import { listFilters, needsMore, placeOf } from './walk.ts';

/** A group that started at this second, or at that of its number. */
const group = (number: number, second = number) =>
  ({ id: `AG${number}`, number, started_at: new Date(second * 1_000).toISOString() }) as AlertGroup;
const place = (number: number, rows: readonly AlertGroup[], sort: '-started_at' | 'started_at') => {
  const { previous, next, isKnown } = placeOf(group(number), rows, sort);
  return [previous?.number, next?.number, isKnown];
};

it.each<[string, number, (number | boolean | undefined)[]]>([
  ['a row in the middle', 3, [5, 1, true]],
  ['the first row', 5, [undefined, 3, true]],
  ['the last row', 1, [3, undefined, true]],
  ['a group that left from between two rows', 2, [3, 1, true]],
  ['a group that left from the top', 6, [undefined, 5, true]],
  ['a group behind the last row', 0, [1, undefined, false]],
])('%s has its place between its neighbours', (_, number, expected) => {
  expect(place(number, [group(5), group(3), group(1)], '-started_at')).toEqual(expected);
});

it('follows the order of the list, and the number where two began together', () => {
  expect(place(2, [group(1), group(3)], 'started_at')).toEqual([1, 3, true]);
  expect(place(2, [group(3, 2), group(1, 2)], '-started_at')).toEqual([3, 1, true]);
});

it('a row stays where it was shown, whatever its order says now', () => {
  expect(place(9, [group(5), group(9, 1), group(3)], '-started_at')).toEqual([5, 3, true]);
});

it('asks for more rows behind the last one, and for a group that is not found up to a bound', () => {
  const last = placeOf(group(1), [group(1)], '-started_at');
  expect([needsMore(last, 1), needsMore(last, 5_000)]).toEqual([true, true]);
  const lost = placeOf(group(0), [group(1)], '-started_at');
  expect([needsMore(lost, 499), needsMore(lost, 500)]).toEqual([true, false]);
  expect(needsMore(placeOf(group(2), [group(2), group(1)], '-started_at'), 2)).toBe(false);
});

it.each([
  ['/alert-groups', NO_FILTERS],
  ['/alert-groups?tab=firing&label=a%3D%22%3F%22', { ...NO_FILTERS, tab: 'firing', labels: ['a="?"'] }],
  ['/alert-groups?number=7', null],
  ['/alert-groups/AG1', null],
  ['/routes?tab=firing', null],
  [null, null],
])('%s is the list of these filters, or none', (address, filters) => {
  expect(listFilters(address)).toEqual(filters);
});
