/** Drops the partitions that hold nothing but what retention removes (organization §8). */
import { DAY, type Micros } from '../runtime/clock.ts';
import { KEPT_FOR } from '../runtime/outbound/request-log/reader.ts';
import { PARTITIONED_TABLES } from './partitioned-tables.ts';
import { dropPartitions, type PartitionedTable } from './partitions.ts';
import type { Sql } from './records.ts';

export interface Retention {
  readonly stored_snapshots_days: number;
  readonly alert_details_days: number;
  readonly audit_log_days: number;
}

/** @returns names of the partitions that went */
export type RetentionStep = (sql: Sql, retention: Retention, now: Micros) => Promise<string[]>;

/** In the order in which they run; each is independent of the others. */
export const RETENTION_STEPS: readonly RetentionStep[] = [
  dropSnapshots,
  dropTimeline,
  dropAudit,
  dropRequests,
];

/** Stored Snapshots and bodies, but of no day from which a Snapshot still waits to be processed. */
async function dropSnapshots(
  sql: Sql,
  { stored_snapshots_days: days }: Retention,
  now: Micros,
): Promise<string[]> {
  const [waiting] = await sql<
    { oldest: Micros | null }[]
  >`select min(received_at) as oldest from snapshot_queue`;
  const before = Math.min(now - days * DAY, waiting?.oldest ?? now);
  const rows = await dropPartitions(sql, tableNamed('stored_snapshots'), before);
  const bodies = await dropPartitions(sql, tableNamed('snapshot_bodies'), before);
  return [...rows, ...bodies];
}

/**
 * Months of the Timeline in which every Alert Group is resolved for longer than its details are kept. Entries are not
 * moved: a month stays as long as one group needs it.
 */
async function dropTimeline(
  sql: Sql,
  { alert_details_days: days }: Retention,
  now: Micros,
): Promise<string[]> {
  const before = now - days * DAY;
  return dropPartitions(sql, tableNamed('timeline_entries'), before, async (tx, partition) => {
    const [found] = await tx`
      select 1
      from ${tx(partition)} entry
      join alert_groups g on g.id = entry.group_id
      where g.status <> 'resolved' or g.resolved_at >= ${before}
      limit 1`;
    return found === undefined;
  });
}

function dropAudit(sql: Sql, { audit_log_days: days }: Retention, now: Micros): Promise<string[]> {
  return dropPartitions(sql, tableNamed('audit_log'), now - days * DAY);
}

function dropRequests(sql: Sql, _retention: Retention, now: Micros): Promise<string[]> {
  return dropPartitions(sql, tableNamed('request_records'), now - KEPT_FOR);
}

function tableNamed(name: string): PartitionedTable {
  const table = PARTITIONED_TABLES.find((one) => one.table === name);
  if (!table) throw new Error(`There is no partitioned table ${name}.`);
  return table;
}
