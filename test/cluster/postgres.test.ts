/** PostgreSQL dies and comes back under load: senders are told to come again, no replica ends, everything catches up. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { evenlySpread } from '../harness/cluster-facts.ts';
import type { Replica } from '../harness/replica.ts';
import { until } from '../harness/until.ts';
import { goesOn, seed, underLoad } from './scenario.ts';

const AWAY_MS = 3_000;

const isReady = (replica: Replica) => replica.isReady().catch(() => false);

test(`PostgreSQL killed and stopped in turn costs time only (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  await underLoad({}, async ({ cluster, traffic }) => {
    for (const how of ['killPostgres', 'stopPostgres'] as const) {
      const before = traffic.balancer.counts.unavailable;
      await cluster[how]();
      for (const replica of cluster.replicas)
        await until(`${replica.id} not to be ready`, async () => !(await isReady(replica)));
      await pause(AWAY_MS);
      expect(traffic.balancer.counts.unavailable, '503 with Retry-After').toBeGreaterThan(before);
      const at = Date.now();
      await cluster.startPostgres();
      await Promise.all(cluster.replicas.map((replica) => replica.becomesReady()));
      await goesOn(traffic);
      console.log(`${how}: posts were accepted ${Date.now() - at} ms after it was started again`);
    }
    expect(cluster.replicas.flatMap(({ crashes }) => crashes)).toEqual([]);
    await evenlySpread(cluster);
  });
});
