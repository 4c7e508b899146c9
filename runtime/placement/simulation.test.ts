import { expect, test } from 'vitest';
import { simulateReplicas } from '../../test/simulation/simulate-replicas.ts';

const SEEDS = 30;

test(`what the engine promises holds for replicas that place themselves, in ${SEEDS} seeds of trouble`, async () => {
  const broken: Record<number, readonly string[]> = {};
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations } = await simulateReplicas(seed);
    if (violations.length > 0) broken[seed] = violations;
  }
  expect(broken, 'replay with: npm run simulate -- --world replicas --seed N').toEqual({});
}, 60_000);

test('a seed replays to the last event', async () => {
  const [first, second] = [
    await simulateReplicas(3, { trace: true }),
    await simulateReplicas(3, { trace: true }),
  ];
  expect(first.trace.length).toBeGreaterThan(50);
  expect(second.trace).toEqual(first.trace);
}, 20_000);
