import { expect, test } from 'vitest';
import { REPLICA_MUTATIONS } from '../../test/simulation/replicas.mutations.ts';
import { simulateReplicas } from '../../test/simulation/simulate-replicas.ts';

/** A broken world has this many chances to be noticed. */
const CHANCES = 400;

test.each(Object.entries(REPLICA_MUTATIONS))(
  '%s: noticed',
  async (_name, seams) => {
    for (let seed = 1; seed <= CHANCES; seed++) {
      if ((await simulateReplicas(seed, seams)).violations.length > 0) return;
    }
    expect.fail(`not noticed in ${CHANCES} seeds`);
  },
  60_000,
);
