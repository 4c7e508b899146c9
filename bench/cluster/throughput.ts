/** How many Snapshots a second are taken and processed to the end by one, two and three replicas. */
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../test/harness/cluster.ts';
import { evenlySpread } from '../../test/harness/cluster-facts.ts';
import { load } from '../load/start.ts';
import { cpuSeconds } from '../processor-time.ts';
import type { BenchOptions } from '../report.ts';
import { Share } from './share.ts';

/** To each replica, so that each can fill its commits. */
const CONNECTIONS = 64;
const GROUPS = 500;
/** Share of Snapshots in which an alert changes. */
const CHANGES = 0.05;

export interface ThroughputPlan {
  readonly replicas: number;
  readonly withoutRedis?: true;
  /** Of a core, for each replica; what PostgreSQL, Redis and the load need comes from the rest. All they get if not said. */
  readonly share?: number;
}

export interface Throughput {
  readonly accepted: number;
  /** What still waited at the end counts against it. */
  readonly processed: number;
  readonly drainSeconds: number;
  /** Processor time of all replicas for one Snapshot, ms. */
  readonly cpuMillis: number;
  readonly other: Readonly<Record<string, number>>;
}

/** Everything is warm, and every group open, before it counts. */
export async function measureThroughput(plan: ThroughputPlan, options: BenchOptions): Promise<Throughput> {
  const cluster = await Cluster.start({ ...plan, durable: true, logLevel: 'error', destinations: 0 });
  const shares: Share[] = [];
  try {
    await evenlySpread(cluster);
    await run(cluster, Math.max(options.seconds / 2, 5), options);
    await drained(cluster);
    if (plan.share !== undefined)
      for (const { pid } of cluster.replicas) shares.push(new Share(pid, plan.share));
    const before = await meters(cluster);
    const results = await run(cluster, options.seconds, options);
    const drainSeconds = await drained(cluster);
    const after = await meters(cluster);
    const accepted = results.reduce((sum, result) => sum + result.perSecond, 0);
    const other: Record<string, number> = {};
    for (const result of results)
      for (const [status, count] of Object.entries(result.other))
        other[status] = (other[status] ?? 0) + count;
    const processed = (accepted * options.seconds) / (options.seconds + drainSeconds);
    const cpuMillis = ((after.cpu - before.cpu) / (after.snapshots - before.snapshots)) * 1000;
    return { accepted, processed, drainSeconds, cpuMillis, other };
  } finally {
    await cluster.remove();
    for (const share of shares) await share.end();
  }
}

function run(cluster: Cluster, seconds: number, options: BenchOptions) {
  const share = Math.floor(GROUPS / cluster.replicas.length);
  return Promise.all(
    cluster.replicas.map((replica, place) =>
      load({
        url: `${replica.url}/api/v1/ingest`,
        token: cluster.rows.token,
        connections: CONNECTIONS,
        seconds,
        warmupSeconds: options.warmupSeconds,
        rate: null,
        groups: share,
        firstGroup: place * share,
        body: 'webhook',
        changes: CHANGES,
      }),
    ),
  );
}

/** Processor seconds of the replicas and Snapshots stored, so far. */
async function meters({ replicas, sql }: Cluster) {
  const cpu = replicas.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const [row] = await sql<{ snapshots: number }[]>`select count(*)::int as snapshots from stored_snapshots`;
  return { cpu, snapshots: row!.snapshots };
}

/** Waits until nothing is queued; gives the seconds it took. */
async function drained(cluster: Cluster): Promise<number> {
  const from = performance.now();
  for (;;) {
    const [row] = await cluster.sql<{ waits: boolean }[]>`
      select exists (select from snapshot_queue) or exists (select from inbox) as waits`;
    if (!row!.waits) return (performance.now() - from) / 1000;
    await pause(20);
  }
}
