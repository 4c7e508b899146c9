import { expect, it } from 'vitest';
import { entriesOf } from './present.ts';

const at = (second: number) => ({ at: `2026-10-03T10:00:0${second}.000001Z` });
const entries = [at(5), at(5), at(3)];

it.each([
  ['every entry of its moment belongs to a message', at(5), false, 2],
  ['a message between entries recorded nothing', at(4), false, 0],
  ['what an older message recorded is not known while older entries are not at hand', at(2), false, null],
  ['an older message recorded nothing when there are no older entries', at(2), true, 0],
])('%s', (_, message, complete, count) => {
  expect(entriesOf(message, entries, complete)?.length ?? null).toBe(count);
});

it('nothing is known while nothing is at hand', () => {
  expect(entriesOf(at(5), [], false)).toBeNull();
});
