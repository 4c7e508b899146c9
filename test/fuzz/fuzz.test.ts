/** Ten thousand requests that nobody should send. `npm run fuzz` sends as many as asked for. */

import { expect, test } from 'vitest';
import { seedOfRun } from '../simulation/random.ts';
import { fuzz } from './fuzz.ts';

const REQUESTS = 10_000;
/** Repeatable: a failing run is run again with FUZZ_SEED. */
const seed = seedOfRun(process.env.FUZZ_SEED);

test(`${REQUESTS} requests cause no 500 and no answer beyond its bounds (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const said: string[] = [];
  const { figures, faults } = await fuzz({ requests: REQUESTS, seed, progress: (what) => said.push(what) });
  console.log(JSON.stringify(figures));
  expect(faults.slice(0, 10), said.join('\n')).toEqual([]);
  expect(figures.requests).toBe(REQUESTS);
  // The requests reach what they are meant for.
  expect(figures.succeeded).toBeGreaterThan(figures.operations / 4);
});
