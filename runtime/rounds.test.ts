import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from '../test/simulation/world.ts';
import { SECOND } from './clock.ts';
import { Rounds } from './rounds.ts';

const rejected: unknown[] = [];
const listeners = process.listeners('unhandledRejection');

beforeEach(() => {
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (error) => rejected.push(error));
});

afterEach(() => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of listeners) process.on('unhandledRejection', listener);
});

test('a run that rejects is followed by others, on request and after a second', async () => {
  const world = new World(1, false);
  const pass = (seconds: number) => world.runUntil(() => false, world.now + seconds * SECOND);
  let runs = 0;
  const rounds = new Rounds(world.clock, async () => {
    runs++;
    throw new Error(`run ${runs}`);
  });
  rounds.begin();
  await pass(0.5);
  expect(runs).toBe(1);
  rounds.soon();
  await pass(0.9);
  expect(runs).toBe(2);
  await pass(0.2);
  expect(runs).toBe(3);
  rounds.stop();
  expect(rejected.map(String)).toEqual(['Error: run 1', 'Error: run 2', 'Error: run 3']);
});
