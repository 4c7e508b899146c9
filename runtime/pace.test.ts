import { expect, test } from 'vitest';
import { Pace } from './pace.ts';

test('what is paused is no work, though time goes by', () => {
  let now = 1_000;
  const pace = new Pace(() => now);
  now += 5;
  pace.pause();
  now += 70;
  pace.resume();
  now += 2;
  pace.pause();
  expect([pace.worked, pace.elapsed]).toEqual([7, 77]);
});
