import { expect, test } from 'vitest';
import { World } from '../test/simulation/world.ts';
import { SECOND } from './clock.ts';
import { createPauseWatch } from './pause-watch.ts';

/** A process whose timers fire late by as long as it was stopped. */
function stage() {
  const world = new World(1, false);
  let stopped = 0;
  const watch = createPauseWatch(world.clock, () => world.now + stopped);
  const pass = (seconds: number) => world.runUntil(() => false, world.now + seconds * SECOND);
  return {
    watch,
    world,
    pass,
    stop(seconds: number) {
      stopped += seconds * SECOND;
    },
  };
}

test('a process that goes on has not paused, however long it takes', async () => {
  const { watch, pass } = stage();
  const one = watch.begin();
  await pass(30);
  expect(one.hasPaused()).toBe(false);
  one.end();
});

test('a pause is noticed before and after the first timer fires, by those who had begun before it only', async () => {
  const { watch, pass, stop } = stage();
  const before = watch.begin();
  await pass(3);
  stop(5);
  expect(before.hasPaused()).toBe(true);
  await pass(3);
  expect(before.hasPaused()).toBe(true);
  const after = watch.begin();
  await pass(3);
  expect(after.hasPaused()).toBe(false);
});

test('nothing ticks when nobody watches', async () => {
  const { watch, pass, world } = stage();
  const [one, other] = [watch.begin(), watch.begin()];
  one.end();
  await pass(2);
  other.end();
  const events = world.events;
  await pass(60);
  expect(world.events - events).toBeLessThanOrEqual(1);
});
