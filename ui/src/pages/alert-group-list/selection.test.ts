import { expect, it, vi } from 'vitest';
import { createSelection, MOST_SELECTED } from './selection.ts';

const ROWS = ['a', 'b', 'c', 'd', 'e'];
const shown = (selection: { ids: ReadonlySet<string> }) => [...selection.ids].sort();

it('turns rows on and off', () => {
  const selection = createSelection(() => undefined);
  for (const id of ['a', 'c', 'a']) selection.select(id, false, ROWS);
  expect(shown(selection)).toEqual(['c']);
});

it.each([
  ['downwards', 'b', 'd'],
  ['upwards', 'd', 'b'],
])('takes a range %s', (_, from, to) => {
  const selection = createSelection(() => undefined);
  selection.select(from, false, ROWS);
  selection.select(to, true, ROWS);
  expect(shown(selection)).toEqual(['b', 'c', 'd']);
});

it('takes one row when a range has no start', () => {
  const selection = createSelection(() => undefined);
  selection.select('c', true, ROWS);
  expect(shown(selection)).toEqual(['c']);
});

it('never holds more than can be selected, and says so once', () => {
  const full = vi.fn();
  const selection = createSelection(full);
  const many = Array.from({ length: MOST_SELECTED + 20 }, (_, n) => `row${n}`);
  selection.select('row110', false, many);
  selection.add(many);
  expect(selection.ids.size).toBe(MOST_SELECTED);
  expect(full).toHaveBeenCalledOnce();
});
