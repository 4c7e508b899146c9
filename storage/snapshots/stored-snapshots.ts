/** Stored Snapshots after their arrival: lists, bodies, failed ones, and replays under a new number (ingestion §9). */
import { type Authorship, auditEntry } from '../../actors/audit.ts';
import type {
  SnapshotState,
  StoredSnapshotBody,
  StoredSnapshotItem,
  StoredSnapshotReader,
  StoredSnapshotsQuery,
} from '../../actors/feed/ports.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { allOf, type Fragment } from '../alert-groups/filters.ts';
import { readOrganization } from '../configuration/organization.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, inTransaction } from '../postgres/transaction.ts';

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

/** Those of an earlier release were kept whole; newer ones, with the mark of the cut, are shorter. */
const SHOWN_GROUP_KEY = 4_200;

/** Index by id: stored_snapshots_id. */
function settled(sql: Sql, condition: Fragment): Fragment {
  return sql`
    select
      seq, id, integration_id, received_at, size_bytes, body_hash, content_type,
      case when processing_error is null then 'processed' else 'failed' end as state,
      processed_at, left(group_key, ${SHOWN_GROUP_KEY}) as group_key, alert_count, truncated_alerts, processing_error
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

/** Accepted bodies that are no Snapshots, by Integration (ingestion §4.2). */
export interface FailedOfIntegration {
  readonly integration: { readonly id: PublicId; readonly name: string };
  readonly count: number;
  /** The newest. */
  readonly last: { readonly id: PublicId; readonly receivedAt: Micros; readonly error: string };
}

/** Those received since then, the newest failure first. Index: stored_snapshots_failed. */
export async function readFailedSnapshots(sql: Sql, since: Micros): Promise<readonly FailedOfIntegration[]> {
  const rows = await sql<
    { id: PublicId; name: string; count: number; last: PublicId; received_at: Micros; error: string }[]
  >`
    select i.id, i.name, f.count, f.last, f.received_at, f.error
    from integrations i
    cross join lateral (
      select
        count(*)::int as count,
        (array_agg(s.id order by s.received_at desc, s.seq desc))[1] as last,
        max(s.received_at) as received_at,
        (array_agg(s.processing_error order by s.received_at desc, s.seq desc))[1] as error
      from stored_snapshots s
      where s.integration_id = i.id and s.processing_error is not null and s.received_at >= ${since}
    ) f
    where f.count > 0
    order by f.received_at desc, i.id`;
  return rows.map(({ id, name, count, last, received_at, error }) => ({
    integration: { id, name },
    count,
    last: { id: last, receivedAt: received_at, error },
  }));
}

/** Replays Stored Snapshots: settled ones wait in the queue once more (ingestion §9). */
export interface Replay {
  /** Those received from here on, µs. */
  readonly since: Micros;
  /** The period as it was asked for, for the Audit log. */
  readonly period: string;
  /** Name of the Integration whose Snapshots are meant; null: of all. */
  readonly integration: string | null;
  readonly author: Authorship;
}

/** `unknown`: there is no Integration of that name, and nothing was changed. */
export type ReplayOutcome = { readonly count: number } | 'unknown';

/**
 * In one transaction, with its entry in the Audit log. Safe while the service runs, which finds them with its next
 * look through the queue, and while it is stopped. Those that wait already are left alone.
 */
export function replaySnapshots(sql: Sql, appendAudit: AppendAudit, replay: Replay): Promise<ReplayOutcome> {
  return inTransaction(sql, async (tx) => {
    const { integration: name, author } = replay;
    const integration = name === null ? null : await integrationNamed(tx, name);
    if (name !== null && integration === null) return 'unknown';
    const since = Math.max(replay.since, await keptSince(tx, author.at));
    const count = await takeBack(tx, since, integration);
    const details = { since: replay.period, integration: name, count };
    const resourceId = integration;
    await appendAudit(
      tx,
      auditEntry(author, { action: 'ingest.replayed', resourceId, resourceName: name, details }),
    );
    return { count };
  });
}

/** The live one of that name, else the one that had it last. */
async function integrationNamed(tx: Transaction, name: string): Promise<PublicId | null> {
  const [found] = await tx<{ id: PublicId }[]>`
    select id from integrations where name = ${name}
    order by deleted_at desc nulls first limit 1`;
  return found?.id ?? null;
}

/**
 * They are numbered anew, in the order of their receipt, so that whoever reads the queue takes them for newly arrived;
 * receipt itself is kept. A row whose body is gone stays as it is. Index: stored_snapshots_list for one Integration.
 */
async function takeBack(tx: Transaction, since: Micros, integration: PublicId | null): Promise<number> {
  const taken = await tx`
    with taken as (
      delete from stored_snapshots s
      where s.received_at >= ${since} and ${integration === null ? tx`true` : tx`s.integration_id = ${integration}`}
        and exists (
          select from snapshot_bodies b where b.day = s.received_at / ${DAY}::bigint and b.hash = s.body_hash
        )
      returning *
    )
    insert into snapshot_queue (
      id, integration_id, received_at, body_hash, size_bytes, content_type, is_replay, replay_of_processed
    )
    select
      id, integration_id, received_at, body_hash, size_bytes, content_type, true,
      processed_before or processing_error is null
    from (select * from taken order by received_at, seq) as in_order`;
  return taken.count;
}
