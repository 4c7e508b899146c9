/** How many Snapshots a second are taken and processed to the end by one, two and three replicas on this machine. */
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../test/harness/cluster.ts';
import { evenlySpread } from '../../test/harness/cluster-facts.ts';
import { load } from '../load/start.ts';
import type { BenchOptions } from '../report.ts';

const CONNECTIONS = 64;
const GROUPS = 500;
/** Share of Snapshots in which an alert changes. */
const CHANGES = 0.05;

export interface Throughput {
  readonly accepted: number;
  /** What still waited at the end counts against it. */
  readonly processed: number;
  readonly drainSeconds: number;
  readonly other: Readonly<Record<string, number>>;
}

export async function measureThroughput(
  plan: { readonly replicas: number; readonly withoutRedis?: true },
  options: BenchOptions,
): Promise<Throughput> {
  const cluster = await Cluster.start({ ...plan, durable: true, logLevel: 'error', destinations: 0 });
  try {
    await evenlySpread(cluster);
    const share = Math.floor(GROUPS / plan.replicas);
    const results = await Promise.all(
      cluster.replicas.map((replica, place) =>
        load({
          url: `${replica.url}/api/v1/ingest`,
          token: cluster.rows.token,
          connections: Math.ceil(CONNECTIONS / plan.replicas),
          seconds: options.seconds,
          warmupSeconds: options.warmupSeconds,
          rate: null,
          groups: share,
          firstGroup: place * share,
          body: 'webhook',
          changes: CHANGES,
        }),
      ),
    );
    const drainSeconds = await drained(cluster);
    const accepted = results.reduce((sum, result) => sum + result.perSecond, 0);
    const other: Record<string, number> = {};
    for (const result of results)
      for (const [status, count] of Object.entries(result.other))
        other[status] = (other[status] ?? 0) + count;
    const processed = (accepted * options.seconds) / (options.seconds + drainSeconds);
    return { accepted, processed, drainSeconds, other };
  } finally {
    await cluster.remove();
  }
}

/** Waits until nothing is queued; gives the seconds it took. */
async function drained(cluster: Cluster): Promise<number> {
  const from = performance.now();
  for (;;) {
    const [row] = await cluster.sql<{ waiting: number }[]>`
      select (select count(*)::int from snapshot_queue) + (select count(*)::int from inbox) as waiting`;
    if (row!.waiting === 0) return (performance.now() - from) / 1000;
    await pause(20);
  }
}
