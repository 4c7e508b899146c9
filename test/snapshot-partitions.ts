/** Partitions for Stored Snapshots of the past, which the service itself makes only when their days come. */
import { DAY, type Micros } from '../runtime/clock.ts';
import { ensurePartitions } from '../storage/postgres/partitions.ts';
import type { Sql } from '../storage/postgres/records.ts';
import { snapshotPartitions } from '../storage/snapshots/queue.ts';

/** Makes those of every day from `from` to `until`, both included. */
export async function makeSnapshotPartitions(sql: Sql, from: Micros, until: Micros): Promise<void> {
  for (let at = from; at <= until; at += DAY) await ensurePartitions(sql, at, snapshotPartitions);
  await ensurePartitions(sql, until, snapshotPartitions);
}
