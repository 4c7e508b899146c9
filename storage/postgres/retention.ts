/** What is kept how long: every partitioned table, and what goes of resolved Alert Groups (organization §8). */
import { DAY, type Micros } from '../../runtime/clock.ts';
import { KEPT_FOR } from '../../runtime/outbound/request-log/reader.ts';
import { stateOf } from '../engine/actor-states.ts';
import { snapshotPartitions } from '../snapshots/queue.ts';
import { dropPartitions, type PartitionedTable, pastPartitions } from './partitions.ts';
import type { Sql } from './records.ts';
import { inTransaction, pinPlans, together } from './transaction.ts';

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
 * Months of the Timeline in which every Alert Group is resolved for longer than its details are kept. A month that one
 * group needs stays, with the entries of those that need them ({@link trimTimeline}).
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
      where g.status <> 'resolved' or g.resolved_at >= ${before} or g.firing_alert_count > 0
      limit 1`;
    return found === undefined;
  });
}

/** Alert Groups whose entries of a month go with one statement. */
const TRIMMED_AT_ONCE = 200;

/**
 * In the months of the Timeline that stay although they are past: entries of Alert Groups without details, or of none.
 * @returns how many went
 */
export async function trimTimeline(
  sql: Sql,
  { alert_details_days: days }: Pick<Retention, 'alert_details_days'>,
  now: Micros,
  goesOn: () => boolean,
): Promise<number> {
  let removed = 0;
  for (const month of await pastPartitions(sql, tableNamed('timeline_entries'), now - days * DAY)) {
    let after: string | null = '';
    while (after !== null && goesOn()) {
      const trimmed: Trimmed = await trimMonth(sql, month, after);
      removed += trimmed.removed;
      after = trimmed.last;
    }
  }
  return removed;
}

interface Trimmed {
  readonly removed: number;
  /** Id of the group up to which the month is trimmed; null at its end. */
  readonly last: string | null;
}

async function trimMonth(sql: Sql, month: string, after: string): Promise<Trimmed> {
  // index: timeline_entries_group of the month, in its order
  const [row] = await sql<{ removed: number; groups: number; last: string | null }[]>`
    with page as materialized (
      select distinct group_id from ${sql(month)} where group_id > ${after}
      order by group_id limit ${TRIMMED_AT_ONCE}
    ), over as (
      select group_id from page left join alert_groups g on g.id = group_id
      where g.id is null or g.details_removed
    ), gone as (
      delete from ${sql(month)} where group_id in (select group_id from over) returning 1
    )
    select
      (select count(*)::int from gone) as removed,
      (select count(*)::int from page) as groups,
      (select max(group_id) from page) as last`;
  if (!row) throw new Error('a select of counts gives a row');
  return { removed: row.removed, last: row.groups === TRIMMED_AT_ONCE ? row.last : null };
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

/**
 * Alerts and deliveries of up to `limit` groups that are resolved since before an instant, the oldest first. Their
 * Timelines show Notes only from then on; entries go by whole months, or where a month stays by group (retention.ts).
 * @returns how many groups; fewer than `limit`: no more are left
 */
export async function removeGroupDetails(sql: Sql, before: Micros, limit: number): Promise<number> {
  // indexes: alert_groups_detailed, deliveries_of_group, delivered_messages_of_group
  const [, emptied] = await inTransaction(sql, (tx) =>
    together(
      pinPlans(tx),
      tx`
        with emptied as materialized (
          select id from alert_groups
          where status = 'resolved' and not details_removed and resolved_at < ${before} and firing_alert_count = 0
          order by resolved_at limit ${limit} for update skip locked
        ), alerts as (
          delete from group_alerts where group_id in (select id from emptied)
        ), deliveries as (
          delete from deliveries where group_id in (select id from emptied) and not wanted
        ), messages as (
          delete from delivered_messages where group_id in (select id from emptied)
        )
        update alert_groups set details_removed = true where id in (select id from emptied)`,
    ),
  );
  return emptied.count;
}

/**
 * Up to `limit` groups that are resolved since before an instant, with Notes and all that leads to them. The next alert
 * of such a Route and key begins anew.
 * @returns how many groups; fewer than `limit`: no more are left
 */
export async function removeGroups(sql: Sql, before: Micros, limit: number): Promise<number> {
  // indexes: alert_groups_resolved from its old end, notes_group, slots_group, deliveries_of_group
  const [, removed] = await inTransaction(sql, (tx) =>
    together(
      pinPlans(tx),
      tx`
        with removed as materialized (
          select id from alert_groups
          where status = 'resolved' and details_removed and resolved_at < ${before}
          order by resolved_at limit ${limit} for update skip locked
        ), notes as (
          delete from notes where group_id in (select id from removed)
        ), slots as (
          delete from slots where group_id in (select id from removed)
        ), deliveries as (
          delete from deliveries where group_id in (select id from removed)
        ), forgotten as (
          delete from actors where kind = 'alert_group' and key in (select id from removed)
          returning ${stateOf(sql)} as state
        ), counted as (
          insert into actor_states (kind, state, change)
          select 'alert_group', state, -count(*) from forgotten group by state
        )
        delete from alert_groups where id in (select id from removed)`,
    ),
  );
  return removed.count;
}
