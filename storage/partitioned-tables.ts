import type { PartitionedTable } from './partitions.ts';
import { snapshotPartitions } from './snapshots.ts';

/** Every partitioned table (operations §3 rule 5). */
export const PARTITIONED_TABLES: readonly PartitionedTable[] = [
  ...snapshotPartitions.map((table) => ({ ...table, period: 'day' as const })),
  { table: 'timeline_entries', period: 'month', unit: 'micros', storage: null },
  { table: 'request_records', period: 'day', unit: 'micros', storage: null },
  {
    table: 'audit_log',
    period: 'month',
    unit: 'micros',
    storage: null,
    neverTruncated: 'audit_log_is_append_only',
  },
];
