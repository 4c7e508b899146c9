import { describe, expect, test } from 'vitest';
import { MUTATIONS } from '../../test/simulation/mutations.ts';
import { simulate } from '../../test/simulation/simulate.ts';

const SEEDS = 200;

describe('the simulation notices when', () => {
  for (const [name, seams] of Object.entries(MUTATIONS)) {
    test(name, { timeout: 30_000 }, async () => {
      let noticedBy = 0;
      for (let seed = 1; seed <= SEEDS && noticedBy === 0; seed++) {
        const { violations } = await simulate(seed, seams);
        if (violations.length > 0) noticedBy = seed;
      }
      expect(noticedBy, `no invariant was broken in ${SEEDS} seeds`).toBeGreaterThan(0);
    });
  }
});
