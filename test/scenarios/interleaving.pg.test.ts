/**
 * Invariants of Alert Groups under random interleavings, and that nothing is left open in the end. `INTERLEAVINGS=200`
 * plays more of them; `INTERLEAVING_SEED=…` repeats one.
 */
import { describe, expect, test } from 'vitest';
import { interleave } from './interleaving.ts';
import { Scenario } from './scenario.ts';
import { useWorld } from './world.ts';

const ROUNDS = 25;
const { INTERLEAVINGS: runs = '4', INTERLEAVING_SEED: seed } = process.env;
const seeds = seed === undefined ? Array.from({ length: Number(runs) }, (_, n) => n + 1) : [Number(seed)];

const world = useWorld();

describe('whatever happens in whatever order, the invariants of Alert Groups hold', () => {
  test.each(seeds)('seed %i', async (one) => {
    const scenario = await Scenario.open(world());
    const left = await interleave(scenario, one, ROUNDS);
    await scenario.close();
    expect(left).toEqual([]);
  });
});
