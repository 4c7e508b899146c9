/** What one Snapshot and one Command cost PostgreSQL, Redis, the disk and both processors: the slopes of growth. */
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../test/harness/cluster.ts';
import { evenlySpread } from '../test/harness/cluster-facts.ts';
import { load } from './load/start.ts';
import type { Bench, BenchOptions, Row } from './report.ts';
import { type Consumption, consumption, readMeters } from './slopes/meters.ts';
import { measureRemoteCommands, type RemoteCommands } from './slopes/remote-commands.ts';

interface LoadKind {
  readonly what: string;
  readonly replicas: number;
  /** Snapshots a second; null: as many as 64 connections bring. */
  readonly rate: number | null;
  /** Share of Snapshots in which an alert changes. */
  readonly changes: number;
  /** Sender groups, opened before; more than are ever sent: every Snapshot opens an Alert Group of its own. */
  readonly groups: number;
}

/** Sender groups of a load that opens none. */
const FEW = 500;
/** Their actors do not fit into the memory of one replica: each comes up again after it left. */
const MANY = 15_000;

const KINDS: readonly LoadKind[] = [
  { what: 'repeats, 34/s', replicas: 1, rate: 34, changes: 0, groups: FEW },
  { what: 'every fifth a change, 34/s', replicas: 1, rate: 34, changes: 0.2, groups: FEW },
  { what: 'changes, 34/s', replicas: 1, rate: 34, changes: 1, groups: FEW },
  { what: 'every fifth a change, 340/s', replicas: 1, rate: 340, changes: 0.2, groups: FEW },
  { what: 'every fifth a change, 340/s by three', replicas: 3, rate: 340, changes: 0.2, groups: FEW },
  {
    what: 'repeats of more groups than stay in memory, 200/s',
    replicas: 1,
    rate: 200,
    changes: 0,
    groups: MANY,
  },
  { what: 'repeats, all it can', replicas: 1, rate: null, changes: 0, groups: FEW },
  { what: 'every fifth a change, all it can', replicas: 1, rate: null, changes: 0.2, groups: FEW },
  { what: 'changes, all it can', replicas: 1, rate: null, changes: 1, groups: FEW },
  { what: 'new groups, all it can', replicas: 1, rate: null, changes: 0, groups: 20_000 },
  { what: 'every fifth a change, all two can', replicas: 2, rate: null, changes: 0.2, groups: FEW },
  { what: 'every fifth a change, all three can', replicas: 3, rate: null, changes: 0.2, groups: FEW },
];
const CONNECTIONS = 64;
const COMMANDS = 200;

interface Slope extends LoadKind {
  readonly perSecond: number;
  readonly perSnapshot: Consumption;
  readonly connections: number;
}

export const slopes: Bench = {
  name: 'slopes',
  title: 'What a Snapshot and a Command cost each resource',
  needs: ['redis-server'],
  async run(options) {
    const measured: Slope[] = [];
    for (const kind of KINDS) {
      options.progress(kind.what);
      measured.push(await measure(kind, options));
    }
    options.progress('Commands at another replica');
    const commands = await measureRemoteCommands(COMMANDS);
    return { rows: [...measured.flatMap(slopeRows), ...commandRows(commands)], raw: { measured, commands } };
  },
};

/** Every load starts on an empty installation and counts from after the warm-up until all is processed. */
async function measure(kind: LoadKind, options: BenchOptions): Promise<Slope> {
  const { replicas, rate, groups } = kind;
  const cluster = await Cluster.start({ replicas, durable: true, logLevel: 'error', destinations: 0 });
  try {
    await evenlySpread(cluster);
    const run = (seconds: number, changes: number, firstGroup: number) =>
      Promise.all(
        cluster.replicas.map((replica, place) =>
          load({
            url: `${replica.url}/api/v1/ingest`,
            token: cluster.rows.token,
            connections: Math.ceil(CONNECTIONS / replicas),
            rate: rate === null ? null : rate / replicas,
            groups: Math.floor(groups / replicas),
            firstGroup: firstGroup + place * groups,
            ...{ seconds, warmupSeconds: 0, body: 'webhook', changes },
          }),
        ),
      );
    const opensGroups = groups > FEW && rate === null;
    // With few groups every group is opened before; at a slow rate that takes its time.
    await run(rate === null ? options.warmupSeconds : Math.ceil(groups / rate) + 2, 0, 0);
    await drained(cluster);
    const before = await readMeters(cluster);
    const from = performance.now();
    const results = await run(options.seconds, kind.changes, opensGroups ? replicas * groups : 0);
    await drained(cluster);
    const seconds = (performance.now() - from) / 1000;
    const after = await readMeters(cluster);
    const snapshots = results.reduce((sum, { accepted }) => sum + accepted, 0);
    return {
      ...kind,
      perSecond: snapshots / seconds,
      perSnapshot: consumption(before, after, snapshots),
      connections: after.connections / replicas,
    };
  } finally {
    await cluster.remove();
  }
}

async function drained(cluster: Cluster): Promise<void> {
  for (;;) {
    const [row] = await cluster.sql<{ waiting: number }[]>`
      select (select count(*)::int from snapshot_queue) + (select count(*)::int from inbox) as waiting`;
    if (row!.waiting === 0) return;
    await pause(20);
  }
}

function slopeRows({ what, perSecond, perSnapshot: it, connections }: Slope): Row[] {
  return [
    {
      what: `${what}: Snapshots/s; transactions, WAL flushes, rows, WAL, disk each`,
      value: [
        perSecond.toFixed(0),
        it.transactions.toFixed(2),
        it.flushes.toFixed(2),
        it.rows.toFixed(1),
        `${(it.walBytes / 1024).toFixed(1)} KiB`,
        `${(it.diskBytes / 1024).toFixed(1)} KiB`,
      ].join('; '),
    },
    {
      what: `${what}: transactions/s, WAL flushes/s`,
      value: `${(perSecond * it.transactions).toFixed(0)}; ${(perSecond * it.flushes).toFixed(0)}`,
    },
    {
      what: `${what}: CPU of the service, of PostgreSQL each; Redis commands each; connections a replica`,
      value: [
        `${(it.serviceCpuSeconds * 1e6).toFixed(0)} µs`,
        `${(it.postgresCpuSeconds * 1e6).toFixed(0)} µs`,
        it.redisCommands.toFixed(2),
        connections.toFixed(0),
      ].join('; '),
    },
  ];
}

function commandRows({ atRest, redisCommands, transactions }: RemoteCommands): Row[] {
  return [
    {
      what: 'three replicas at rest: Redis commands/s, transactions/s a replica',
      value: `${atRest.redisCommands.toFixed(1)}; ${atRest.transactions.toFixed(1)}`,
    },
    {
      what: 'a Command at another replica: Redis commands, transactions',
      value: `${redisCommands.toFixed(1)}; ${transactions.toFixed(1)}`,
    },
  ];
}
