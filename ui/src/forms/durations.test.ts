import { expect, it } from 'vitest';
import { largestUnit } from './form.svelte.ts';

it.each([
  [86_400, 'days'],
  [5_400, 'minutes'],
  [14_400, 'hours'],
  [61, 'seconds'],
  [0, 'minutes'],
])('%d seconds are shown in %s', (seconds, unit) => {
  expect(largestUnit(seconds)).toBe(unit);
});
