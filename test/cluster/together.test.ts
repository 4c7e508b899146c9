/** Redis, PostgreSQL, the network and a replica fail at once: whatever comes back first, nothing is lost or repeated. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { goesOn, seed, underLoad } from './scenario.ts';

const AWAY_MS = 5_000;

test(`Redis, PostgreSQL, the network and a replica gone at once come back in any order (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  await underLoad({ proxies: true }, async ({ cluster, traffic, random }) => {
    const redis = cluster.redis!;
    for (let round = 0; round < 2; round++) {
      const [killed, cut] = cluster.replicas.toSorted(() => random() - 0.5);
      await Promise.all([redis.kill(), cluster.killPostgres(), killed!.kill()]);
      cluster.proxy(cut!.id).blackHole();
      await pause(AWAY_MS);
      const comeBack = [
        () => redis.start(),
        () => cluster.startPostgres(),
        () => cluster.proxy(cut!.id).heal(),
        async () => killed!.launch(),
      ].toSorted(() => random() - 0.5);
      for (const back of comeBack) {
        await back();
        await pause(random() * 1_500);
      }
      await Promise.all(cluster.replicas.map((replica) => replica.becomesReady()));
      await goesOn(traffic);
      await evenlySpread(cluster);
    }
    const crashes = cluster.replicas.flatMap((replica) => replica.crashes);
    expect(crashes).toEqual([]);
  });
});
