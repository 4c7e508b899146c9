/** A chat server and a channel bot through everything that can go wrong. `npm run chaos -- --messengers` has it larger. */

import { expect, test } from 'vitest';
import { seedOfRun } from '../simulation/random.ts';
import { messengerChaos } from './messengers.ts';

const GROUPS = 60;
/** Repeatable "random": a failing run is run again with CHAOS_SEED. */
const seed = seedOfRun(process.env.CHAOS_SEED);

test(`${GROUPS} groups stand right in both messengers, at three replicas (seed ${seed})`, {
  timeout: 300_000,
}, async () => {
  const said: string[] = [];
  const options = { groups: GROUPS, replicas: 3, troubles: 2, patience: 120 };
  const { figures, faults } = await messengerChaos({ ...options, seed, progress: (what) => said.push(what) });
  console.log(JSON.stringify(figures));
  expect(faults.slice(0, 10), said.join(', ')).toEqual([]);
});
