/** What replicas cost that have nothing to do. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from '../../test/harness/cluster.ts';
import { evenlySpread } from '../../test/harness/cluster-facts.ts';

/** After this long the work that follows a start is over. */
const SETTLES_MS = 10_000;

export interface IdleCost {
  /** Of one core, per replica. */
  readonly cpuPercent: number;
  /** Of all three together. */
  readonly redisCommands: number;
  readonly transactions: number;
  readonly residentBytes: number;
}

/** A second of three replicas at rest, on average. */
export async function measureIdle(seconds: number): Promise<IdleCost> {
  const cluster = await Cluster.start({ durable: true });
  try {
    await evenlySpread(cluster);
    await pause(SETTLES_MS);
    const before = await read(cluster);
    await pause(seconds * 1000);
    const after = await read(cluster);
    const count = cluster.replicas.length;
    return {
      cpuPercent: ((after.cpuSeconds - before.cpuSeconds) / seconds / count) * 100,
      redisCommands: (after.commands - before.commands) / seconds,
      transactions: (after.transactions - before.transactions) / seconds,
      residentBytes: after.residentBytes / count,
    };
  } finally {
    await cluster.remove();
  }
}

async function read(cluster: Cluster) {
  const pids = cluster.replicas.map(({ pid }) => pid);
  const sum = (of: (pid: number) => number) => pids.reduce((total, pid) => total + of(pid), 0);
  const info = String(await cluster.redis!.command('info', 'stats'));
  await cluster.sql`select pg_stat_clear_snapshot()`;
  const [row] = await cluster.sql<{ count: number }[]>`
    select sum(xact_commit + xact_rollback)::int as count from pg_stat_database`;
  return {
    cpuSeconds: sum(cpuSeconds),
    residentBytes: sum(residentBytes),
    commands: Number(/total_commands_processed:(\d+)/.exec(info)?.[1]),
    transactions: row!.count,
  };
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
