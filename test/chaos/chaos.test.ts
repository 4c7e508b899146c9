/** Messengers that do everything wrong, and afterwards everything stands where it should. `npm run chaos` has it larger. */

import { expect, test } from 'vitest';
import { seedOfRun } from '../simulation/random.ts';
import { chaos } from './chaos.ts';

const GROUPS = 120;
/** Repeatable "random": a failing run is run again with CHAOS_SEED. */
const seed = seedOfRun(process.env.CHAOS_SEED);

test(`${GROUPS} groups outlive the chaos (seed ${seed})`, { timeout: 300_000 }, async () => {
  const said: string[] = [];
  const options = {
    groups: GROUPS,
    acts: 4,
    rage: 10,
    patience: 150,
    progress: (what: string) => said.push(what),
  };
  const { figures, faults } = await chaos({ ...options, seed });
  console.log(JSON.stringify(figures));
  expect(faults.slice(0, 10), said.join(', ')).toEqual([]);
});
