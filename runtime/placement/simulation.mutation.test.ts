import { expect, test } from 'vitest';
import { REPLICA_MUTATIONS } from '../../test/simulation/replicas.mutations.ts';
import { simulateReplicas } from '../../test/simulation/simulate-replicas.ts';

/** A broken world has this many chances to be noticed. */
const CHANCES = 400;

/** Seeds that notice what few others do, looked at first. */
const FIRST: Readonly<Record<string, number>> = {
  'a process that was paused asks nobody before it calls': 16,
  'epochs are never compared': 72,
};

test.each(Object.entries(REPLICA_MUTATIONS))(
  '%s: noticed',
  async (name, seams) => {
    const first = FIRST[name] ?? 1;
    for (let seed = first; seed < first + CHANCES; seed++) {
      if ((await simulateReplicas(seed, seams)).violations.length > 0) return;
    }
    expect.fail(`not noticed in ${CHANCES} seeds`);
  },
  60_000,
);
