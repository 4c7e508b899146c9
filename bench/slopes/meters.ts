/** Counters of a running cluster, and what passed between two readings of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Cluster } from '../../test/harness/cluster.ts';

export interface Consumption {
  readonly transactions: number;
  /** Times the log was brought to the disk. */
  readonly flushes: number;
  /** Rows inserted, updated and deleted. */
  readonly rows: number;
  readonly walBytes: number;
  /** Growth of the database's files. */
  readonly diskBytes: number;
  readonly redisCommands: number;
  readonly serviceCpuSeconds: number;
  /** All processes of the server. */
  readonly postgresCpuSeconds: number;
}

export interface Meters extends Consumption {
  /** Connections that replicas have open. */
  readonly connections: number;
}

export async function readMeters(cluster: Cluster): Promise<Meters> {
  const serviceCpuSeconds = cluster.replicas.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const postgresCpuSeconds = postgresCpu(cluster);
  const redis = String(await cluster.redis!.command('info', 'stats'));
  await cluster.sql`select pg_stat_force_next_flush(), pg_stat_clear_snapshot()`;
  const [row] = await cluster.sql<
    Omit<Meters, 'redisCommands' | 'serviceCpuSeconds' | 'postgresCpuSeconds'>[]
  >`
    select
      (select xact_commit + xact_rollback from pg_stat_database where datname = current_database()) as transactions,
      (select tup_inserted + tup_updated + tup_deleted
        from pg_stat_database where datname = current_database()) as rows,
      (select sum(fsyncs)::bigint from pg_stat_io where object = 'wal') as flushes,
      (pg_current_wal_lsn() - '0/0')::bigint as "walBytes",
      pg_database_size(current_database()) as "diskBytes",
      (select count(*) from pg_stat_activity
        where backend_type = 'client backend' and application_name <> 'cluster-test') as connections`;
  return {
    ...row!,
    redisCommands: Number(/total_commands_processed:(\d+)/.exec(redis)?.[1]),
    serviceCpuSeconds,
    postgresCpuSeconds,
  };
}

export function consumption(before: Meters, after: Meters, times: number): Consumption {
  const each = (of: (meters: Meters) => number) => (of(after) - of(before)) / times;
  return {
    transactions: each((it) => it.transactions),
    flushes: each((it) => it.flushes),
    rows: each((it) => it.rows),
    walBytes: each((it) => it.walBytes),
    diskBytes: each((it) => it.diskBytes),
    redisCommands: each((it) => it.redisCommands),
    serviceCpuSeconds: each((it) => it.serviceCpuSeconds),
    postgresCpuSeconds: each((it) => it.postgresCpuSeconds),
  };
}

/** Of the server and its living children; those that ended count for their parent. */
function postgresCpu({ home }: Cluster): number {
  const file = path.join(home, 'postgres', 'cluster', 'postmaster.pid');
  const postmaster = Number(readFileSync(file, 'utf8').split('\n')[0]);
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster);
  return children.reduce((sum, pid) => sum + cpuSeconds(Number(pid)), cpuSeconds(postmaster, true));
}

function parentOf(pid: string): number | null {
  const fields = statOf(Number(pid));
  return fields === null ? null : Number(fields[1]);
}

function cpuSeconds(pid: number, withEndedChildren = false): number {
  const fields = statOf(pid);
  if (fields === null) return 0;
  const ticks = [11, 12, ...(withEndedChildren ? [13, 14] : [])];
  return ticks.reduce((sum, place) => sum + Number(fields[place]), 0) / 100;
}

/** What /proc says after the name; null for a process that has just ended. */
function statOf(pid: number): string[] | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  try {
    return readFileSync(file, 'utf8').split(') ').at(-1)!.split(' ');
  } catch (error) {
    if (
      (error as NodeJS.ErrnoException).code === 'ESRCH' ||
      (error as NodeJS.ErrnoException).code === 'ENOENT'
    )
      return null;
    throw error;
  }
}
