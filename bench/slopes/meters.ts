/** Counters of a running cluster, and what passed between two readings of them. */
import type { Cluster } from '../../test/harness/cluster.ts';
import { cpuSeconds, postgresCpuSeconds } from '../processor-time.ts';

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
  const inPostgres = postgresCpuSeconds(cluster.home);
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
    postgresCpuSeconds: inPostgres,
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
