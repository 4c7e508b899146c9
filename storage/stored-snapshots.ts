/** Reads Stored Snapshots: those that wait from the queue, settled ones from their own table (ingestion §9). */
import type {
  SnapshotState,
  StoredSnapshotBody,
  StoredSnapshotItem,
  StoredSnapshotReader,
  StoredSnapshotsQuery,
} from '../actors/feed/stored-snapshots.ts';
import { DAY, type Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { readOrganization } from './access-ensure.ts';
import { allOf, type Fragment } from './alert-groups/filters.ts';
import type { Sql, Transaction } from './records.ts';

export function createStoredSnapshotReader(sql: Sql): StoredSnapshotReader {
  return {
    async list(query, now) {
      const kept = await keptSince(sql, now);
      const rows = await sql<SnapshotRow[]>`${listStatement(sql, query, kept)}`;
      const items = rows.slice(0, query.limit).map(itemOf);
      const last = items.at(-1);
      const next = rows.length > query.limit && last ? ([last.receivedAt, last.seq] as const) : null;
      return { items, next };
    },
    async read(id, now) {
      const kept = await keptSince(sql, now);
      const [row] = await sql<BodyRow[]>`
        select found.*, b.body
        from (${settled(sql, sql`id = ${id}`)} union all ${waiting(sql, sql`id = ${id}`)} limit 1) as found
        join snapshot_bodies b on b.day = found.received_at / ${DAY}::bigint and b.hash = found.body_hash
        where found.received_at >= ${kept}`;
      return row ? bodyOf(row) : null;
    },
  };
}

/** The oldest receipt that retention keeps, µs. */
export async function keptSince(sql: Sql | Transaction, now: Micros): Promise<Micros> {
  const { settings } = await readOrganization(sql);
  return now - settings.retention.stored_snapshots_days * DAY;
}

/**
 * Newest first. Indexes: stored_snapshots_list, stored_snapshots_failed when only failed ones are asked for. Of the
 * queue, which has no index by Integration, the rows are read: it holds what is not processed yet.
 */
export function listStatement(sql: Sql, query: StoredSnapshotsQuery, kept: Micros): Fragment {
  const { states, limit } = query;
  const asked = (state: SnapshotState) => states.length === 0 || states.includes(state);
  const branches: Fragment[] = [];
  const conditions = conditionsOf(sql, query, kept);
  const page = sql`order by received_at desc, seq desc limit ${limit + 1}`;
  if (asked('processed') || asked('failed')) {
    const condition = allOf(sql, [...conditions, outcomeCondition(sql, asked)]);
    branches.push(sql`(${settled(sql, condition)} ${page})`);
  }
  if (asked('pending')) branches.push(sql`(${waiting(sql, allOf(sql, conditions))} ${page})`);
  const all = branches.reduce((joined, branch) => sql`${joined} union all ${branch}`);
  return sql`select * from (${all}) as found ${page}`;
}

function conditionsOf(
  sql: Sql,
  { integrationId, from, to, after }: StoredSnapshotsQuery,
  kept: Micros,
): Fragment[] {
  const conditions = [
    sql`integration_id = ${integrationId}`,
    sql`received_at >= ${Math.max(kept, from ?? kept)}`,
  ];
  if (to !== null) conditions.push(sql`received_at < ${to}`);
  if (after) conditions.push(sql`(received_at, seq) < (${after[0]}::bigint, ${after[1]}::bigint)`);
  return conditions;
}

function outcomeCondition(sql: Sql, asked: (state: SnapshotState) => boolean): Fragment {
  if (asked('processed') && asked('failed')) return sql`true`;
  return asked('failed') ? sql`processing_error is not null` : sql`processing_error is null`;
}

/** Index by id: stored_snapshots_id. */
function settled(sql: Sql, condition: Fragment): Fragment {
  return sql`
    select
      seq, id, integration_id, received_at, size_bytes, body_hash, content_type,
      case when processing_error is null then 'processed' else 'failed' end as state,
      processed_at, group_key, alert_count, truncated_alerts, processing_error
    from stored_snapshots where ${condition}`;
}

function waiting(sql: Sql, condition: Fragment): Fragment {
  return sql`
    select
      seq, id, integration_id, received_at, size_bytes, body_hash, content_type, 'pending' as state,
      null::bigint as processed_at, null::text as group_key, null::integer as alert_count,
      null::integer as truncated_alerts, null::text as processing_error
    from snapshot_queue where ${condition}`;
}

interface SnapshotRow {
  readonly seq: number;
  readonly id: PublicId;
  readonly integration_id: PublicId;
  readonly received_at: Micros;
  readonly size_bytes: number;
  readonly state: SnapshotState;
  readonly processed_at: Micros | null;
  readonly group_key: string | null;
  readonly alert_count: number | null;
  readonly truncated_alerts: number | null;
  readonly processing_error: string | null;
}

interface BodyRow extends SnapshotRow {
  readonly content_type: string | null;
  readonly body: Buffer;
}

function itemOf(row: SnapshotRow): StoredSnapshotItem {
  return {
    seq: row.seq,
    id: row.id,
    integrationId: row.integration_id,
    receivedAt: row.received_at,
    sizeBytes: row.size_bytes,
    state: row.state,
    processedAt: row.processed_at,
    groupKey: row.group_key,
    alertCount: row.alert_count,
    truncatedAlerts: row.truncated_alerts,
    processingError: row.processing_error,
  };
}

function bodyOf(row: BodyRow): StoredSnapshotBody {
  return { ...itemOf(row), body: row.body, contentType: row.content_type };
}
