/** Reads Integrations as configuration shows them. */
import type postgres from 'postgres';
import type {
  IntegrationFields,
  IntegrationPlace,
  StoredIntegration,
} from '../../actors/integration/ports.ts';
import { LONG_REPEAT } from '../../actors/integration/rows.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

/** Among so many waiting Snapshots the newest of each Integration are looked for. */
const NEWEST_WAITING = 1_000;
/** Failed Snapshots of an Integration that are counted. */
const MOST_FAILED = 1_000;

interface IntegrationRow {
  readonly id: PublicId;
  readonly version: number;
  readonly builtin: boolean;
  readonly name: string;
  readonly description: string;
  readonly static_labels: IntegrationFields['static_labels'];
  readonly duplicate_window_seconds: number;
  readonly heartbeat_enabled: boolean;
  readonly heartbeat_timeout_seconds: number;
  readonly last_signal_at: Micros | null;
  readonly lost_since: Micros | null;
  readonly truncated_groups: number;
  readonly failed_snapshots: StoredIntegration['failedSnapshots'];
  readonly long_repeats: StoredIntegration['longRepeats'];
  readonly created_at: Micros;
  readonly snapshot_count: number;
  readonly last_snapshot_at: Micros | null;
  readonly open_alert_groups: number;
}

export async function readIntegration(
  sql: Sql | Transaction,
  id: PublicId,
): Promise<StoredIntegration | null> {
  const [integration] = await readIntegrations(sql, sql`i.id = ${id}`, 1);
  return integration ?? null;
}

/** Integrations in the order of the list, from behind `after`. */
export function readIntegrationsAfter(
  sql: Sql | Transaction,
  after: IntegrationPlace | null,
  limit: number,
): Promise<readonly StoredIntegration[]> {
  if (!after) return readIntegrations(sql, sql`true`, limit);
  const [builtin, name, id] = after;
  const behind = sql`(1 - i.builtin::int, i.name collate "C", i.id collate "C") > (1 - ${builtin}::int, ${name}, ${id})`;
  return readIntegrations(sql, behind, limit);
}

export function placeOf({ id, builtin, fields }: StoredIntegration): IntegrationPlace {
  return [builtin ? 1 : 0, fields.name, id];
}

/** Most groups hold Alerts of one Integration only; just the others' Alerts are looked at. */
async function readIntegrations(
  sql: Sql | Transaction,
  which: postgres.PendingQuery<postgres.Row[]>,
  limit: number,
): Promise<readonly StoredIntegration[]> {
  const rows = await sql<IntegrationRow[]>`
    with owned as materialized (
      select
        case
          when cardinality(g.integration_ids) = 1 then g.integration_ids[1]
          else (
            select min(a.integration_id) from group_alerts a
            where a.group_id = g.id and a.state = 'firing'
            having min(a.integration_id) = max(a.integration_id)
          )
        end as integration_id,
        count(*)::integer as open_alert_groups
      from alert_groups g
      where g.status <> 'resolved'
      group by 1
    ), waiting as materialized (
      -- index: snapshot_queue_pkey
      select integration_id, max(received_at) as last_snapshot_at
      from (select integration_id, received_at from snapshot_queue order by seq desc limit ${NEWEST_WAITING}) newest
      group by 1
    )
    select
      i.*,
      coalesce(c.snapshot_count, 0) as snapshot_count,
      greatest(c.last_snapshot_at, waiting.last_snapshot_at) as last_snapshot_at,
      s.lost_since,
      coalesce(s.truncated_groups, 0) as truncated_groups,
      repeats.long_repeats,
      failed.failed_snapshots,
      coalesce(o.open_alert_groups, 0) as open_alert_groups
    from integrations i
    left join lateral (
      select sum(part.snapshot_count)::bigint as snapshot_count, max(part.last_snapshot_at) as last_snapshot_at
      from (
        select snapshot_count, last_snapshot_at from integration_counters where integration_id = i.id
        union all
        select snapshot_count, last_snapshot_at from integration_counter_slots where integration_id = i.id
      ) part
    ) c on true
    left join owned o on o.integration_id = i.id
    left join integration_states s on s.integration_id = i.id
    -- Index: learned_repeats_pkey.
    left join lateral (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('routePath', route_path, 'interval', repeat_interval) order by route_path collate "C"
        ),
        '[]'
      ) as long_repeats
      from learned_repeats
      where integration_id = i.id and repeat_interval > ${LONG_REPEAT}
    ) repeats on true
    -- Index: stored_snapshots_failed.
    left join lateral (
      select
        case when count(*) > 0 then
          jsonb_build_object('count', count(*)) || (array_agg(newest.last order by newest.received_at desc, newest.seq desc))[1]
        end as failed_snapshots
      from (
        select
          received_at, seq,
          jsonb_build_object('snapshotId', id, 'receivedAt', received_at, 'error', processing_error) as last
        from stored_snapshots
        where integration_id = i.id and processing_error is not null and received_at > c.last_snapshot_at - ${DAY}::bigint
        order by received_at desc, seq desc
        limit ${MOST_FAILED}
      ) newest
    ) failed on true
    left join waiting on waiting.integration_id = i.id
    where i.deleted_at is null and ${which}
    order by i.builtin desc, i.name collate "C", i.id collate "C"
    limit ${limit}`;
  return rows.map(storedIntegration);
}

function storedIntegration(row: IntegrationRow): StoredIntegration {
  return {
    id: row.id,
    version: row.version,
    builtin: row.builtin,
    fields: {
      name: row.name,
      description: row.description,
      static_labels: row.static_labels,
      duplicate_window_seconds: row.duplicate_window_seconds,
      heartbeat: { enabled: row.heartbeat_enabled, timeout_seconds: row.heartbeat_timeout_seconds },
    },
    createdAt: row.created_at,
    lastSignalAt: row.last_signal_at,
    lostSince: row.lost_since,
    truncatedGroups: row.truncated_groups,
    failedSnapshots: row.failed_snapshots,
    longRepeats: row.long_repeats,
    lastSnapshotAt: row.last_snapshot_at,
    snapshotCount: row.snapshot_count,
    openAlertGroups: row.open_alert_groups,
  };
}
