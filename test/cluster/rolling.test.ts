/** A rolling restart, as an upgrade does it, under a heavy load: nobody notices. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { evenlySpread } from '../harness/cluster-facts.ts';
import { LiveClient } from '../harness/live-client.ts';
import { until } from '../harness/until.ts';
import { goesOn, seed, spreadOf, underLoad } from './scenario.ts';

/** A Command waits a second or two longer at most than without a restart; this machine also runs everything else. */
const COMMANDS_WITHIN_MS = 5_000;
/** Commands under the same load before the first restart: they tell how slow this machine is. */
const CALM_COMMANDS = 40;
/** A Command that comes while a replica leaves is tried at another one, and waits there as long again. */
const TRIES = 2;
/** A drained replica's actors run elsewhere within 1 s; this machine also runs everything else. */
const HANDOVER_WITHIN_MS = 3_000;
const PAGES_WITHIN_S = 10;
/** Processes that take part in a Command at a replica which does not own its Alert Group, there and back. */
const STEPS = 6;

test(`a rolling restart under 500 posts a second fails nobody (seed ${seed})`, {
  timeout: 540_000,
}, async () => {
  const load = { lanes: 32, groups: 160, postsPerSecond: 500, people: 8, commandsPerSecond: 20 };
  await underLoad({ logLevel: 'warn', destinations: 1, load }, async ({ cluster, traffic, witness }) => {
    const pages = cluster.replicas.map((replica) => new LiveClient(replica, cluster.api(replica)));
    const streams = (count: number) =>
      until(`${count} streams of every page`, async () => pages.every((page) => page.streams >= count));
    try {
      await streams(1);
      const { people } = traffic;
      await until(
        'Commands before the first restart',
        async () => people.latencies.length >= CALM_COMMANDS,
        60,
      );
      const calmMs = people.slowest.tookMs;
      const handovers: number[] = [];
      const stalls = monitorEventLoopDelay();
      stalls.enable();
      for (const replica of cluster.replicas) {
        const at = Date.now();
        expect(await replica.terminate()).toBe(0);
        handovers.push(
          await until(
            'new epochs of its shards',
            async () => (await witness.takeover(replica.id, at)).allRaisedMs,
          ),
        );
        await replica.start();
      }
      await evenlySpread(cluster);
      await goesOn(traffic);
      console.log(`SIGTERM to the last shard's new epoch: ${spreadOf(handovers)}`);
      // What stops this process stops them all: each of a Command's steps may meet it.
      const stalledMs = (stalls.max / 1e6) * STEPS;
      const { slowest } = people;
      console.log(
        `slowest Command ${Math.round(slowest.tookMs)} ms, ${Math.round(calmMs)} ms before the first restart; ` +
          `the machine stood still for ${Math.round(stalledMs)} ms`,
      );
      expect(Math.max(...handovers)).toBeLessThan(HANDOVER_WITHIN_MS + stalledMs);
      const withinMs = COMMANDS_WITHIN_MS + stalledMs + TRIES * calmMs;
      expect(slowest.tookMs, slowest.tries.join('\n')).toBeLessThan(withinMs);
      expect(traffic.balancer.counts.timeout).toBe(0);
      await streams(2);
      await traffic.stop();
      for (const page of pages) await page.becomesRight(PAGES_WITHIN_S);
    } finally {
      await Promise.all(pages.map((page) => page.close()));
    }
  });
});
