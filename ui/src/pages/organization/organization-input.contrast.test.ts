import { expect, test } from 'vitest';
import { hardToSee } from './organization-input.ts';

test.each([
  ['#d32f2f', []],
  ['#ffff00', ['light']],
  ['#000033', ['dark']],
  ['#f57c00', ['light']],
] as const)('%s is hard to see in %j', (color, themes) => {
  expect(hardToSee(color)).toEqual(themes);
});
