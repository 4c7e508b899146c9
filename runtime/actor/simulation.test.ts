import { expect, test } from 'vitest';
import { simulate } from '../../test/simulation/simulate.ts';

/** The whole of `npm test` runs more of them (test/run.ts). */
const SEEDS = 50;

test(`every invariant holds under ${SEEDS} seeds of crashes, lost answers, conflicts and takeovers`, async () => {
  const broken: Record<number, readonly string[]> = {};
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations } = await simulate(seed);
    if (violations.length > 0) broken[seed] = violations;
  }
  expect(broken, 'replay with: npm run simulate -- --seed N').toEqual({});
}, 60_000);

test('a seed replays to the last event', async () => {
  const [first, second] = [await simulate(7, { trace: true }), await simulate(7, { trace: true })];
  expect(first.trace.length).toBeGreaterThan(50);
  expect(second.trace).toEqual(first.trace);
});
