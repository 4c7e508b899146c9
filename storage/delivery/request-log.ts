/** The Request log in Postgres (outbound-http §4.6): written in batches, bounded by age and number, read within bounds. */
import type { Micros } from '../../runtime/clock.ts';
import type { HeaderList } from '../../runtime/outbound/client.ts';
import {
  DRAFTS_KEPT_FOR,
  KEPT_FOR,
  KEPT_OF_OWNER,
  type RequestItem,
  type RequestLogReader,
  type RequestsQuery,
  type StatusClass,
} from '../../runtime/outbound/request-log/reader.ts';
import { ownerOf, type RequestCheck, type RequestRecord } from '../../runtime/outbound/request-log/record.ts';
import type { RequestLogStore, Superseded } from '../../runtime/outbound/request-log/recorder.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { allOf, type Fragment } from '../alert-groups/filters.ts';
import { jsonText, numberArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { Sql } from '../postgres/records.ts';
import { countingStatement } from './delivery-hours.ts';

/** Records of an owner that are written before what is past its bound is removed. */
const TRIMMED_AFTER = 200;

/** Removes what is past the bounds as it writes: a busy owner fills no disk until the next hour's round. */
export function createRequestLogStore(sql: Sql): RequestLogStore {
  const written = new Map<string, number>();
  return {
    async write(records, superseded) {
      await insert(sql, records);
      if (superseded.length > 0) await removeAll(sql, superseded);
      for (const owner of new Set(records.map(ownerOf))) {
        const count =
          (written.get(owner) ?? 0) + records.filter((record) => ownerOf(record) === owner).length;
        if (count >= TRIMMED_AFTER) await trimOwner(sql, owner);
        written.set(owner, count >= TRIMMED_AFTER ? 0 : count);
      }
    },
  };
}

/**
 * Writes records and counts them by the hour; what is written again after a failure is counted once. A record of an
 * owner that was deleted meanwhile is left out: its records went with it.
 */
async function insert(sql: Sql, records: readonly RequestRecord[]): Promise<void> {
  const rows = records.map(rowOf);
  const [first] = rows;
  if (first === undefined) return;
  // A newer schema may have more columns: these keep their defaults.
  const columns = sql(Object.keys(first));
  const written = sql`
    insert into request_records (${columns})
    select ${columns}
    from jsonb_populate_recordset(null::request_records, ${jsonText(rows)}::text::jsonb) record
    where not exists (
      select 1 from destinations d where d.id = record.owner_id and d.deleted_at is not null
      union all
      select 1 from connections c where c.id = record.owner_id and c.deleted_at is not null
    )
    on conflict do nothing
    returning at, direction, method, connection_id, destination_id, check_kind, error_class`;
  await countingStatement(sql, written);
}

/** Index: request_records_pkey. */
async function removeAll(sql: Sql, records: readonly Superseded[]): Promise<void> {
  const ats = numberArray(records.map(({ at }) => at));
  const ids = wordArray(records.map(({ id }) => id));
  await sql`
    delete from request_records r
    using unnest(${ats}::bigint[], ${ids}::text[]) as old (at, id)
    where r.at = old.at and r.id = old.id`;
}

/** Index: request_records_owner. */
async function trimOwner(sql: Sql, owner: string): Promise<void> {
  await sql`
    with past as (
      select at, id from request_records where owner_id = ${owner}
      order by at desc, id desc offset ${KEPT_OF_OWNER} limit 1
    )
    delete from request_records r using past
    where r.owner_id = ${owner} and (r.at, r.id) <= (past.at, past.id)`;
}

/**
 * Removes records past the number that their owner keeps, and those of checks of something that was never saved.
 * @returns rows that went, at most `limit`
 */
export async function pruneRequestRecords(sql: Sql, now: Micros, limit: number): Promise<number> {
  const result = await sql`
    with owners as (
      select distinct owner_id from request_records
    ),
    past as (
      select owner_id, oldest.at, oldest.id
      from owners
      cross join lateral (
        select at, id from request_records r where r.owner_id = owners.owner_id
        order by at desc, id desc offset ${KEPT_OF_OWNER} limit 1
      ) oldest
    ),
    gone as (
      select r.at, r.id from request_records r join past using (owner_id)
      where (r.at, r.id) <= (past.at, past.id)
      union
      select at, id from request_records
      where (owner_id = '' and at < ${now - DRAFTS_KEPT_FOR}) or at < ${now - KEPT_FOR}
      limit ${limit}
    )
    delete from request_records r using gone where r.at = gone.at and r.id = gone.id`;
  return result.count;
}

/** As the table has it. */
function rowOf(record: RequestRecord) {
  const { request, response } = record;
  return {
    at: record.at,
    id: record.id,
    owner_id: ownerOf(record),
    direction: record.direction,
    operation: record.operation,
    method: record.method,
    url: record.url,
    status: record.status,
    latency_ms: Math.max(0, Math.round(record.latency / 1000)),
    via: record.via,
    attempt: record.attempt,
    error_class: record.errorClass,
    error_code: record.errorCode,
    error: record.error,
    check_kind: record.check,
    check_run: record.checkRun,
    connection_id: record.connectionId,
    destination_id: record.destinationId,
    alert_group_id: record.alertGroupId,
    request_headers: request.headers,
    request_body: request.body,
    request_body_bytes: request.bodyBytes,
    request_body_truncated: request.bodyTruncated,
    response_headers: response?.headers ?? null,
    response_body: response?.body ?? null,
    response_body_bytes: response?.bodyBytes ?? null,
    response_body_truncated: response?.bodyTruncated ?? false,
  };
}

/** Reads the Request log: pages of an owner or a run, and one record with headers and bodies (outbound-http §4.6). */
export function createRequestLogReader(sql: Sql): RequestLogReader {
  return {
    async list(query, now) {
      if (!(await isThere(sql, query))) return null;
      const rows = await sql<ItemRow[]>`${requestsStatement(sql, query, now)}`;
      const page = rows.slice(0, query.limit);
      const last = page.at(-1);
      const next = rows.length > query.limit && last ? ([last.at, last.id] as const) : null;
      return { items: page.filter(({ is_past: isPast }) => !isPast).map(itemOf), next };
    },
    async read(id, now) {
      // index: request_records_pkey
      const page = sql`select * from request_records where id = ${id} and ${inTime(sql, now)}`;
      const [row] = await sql<DetailRow[]>`${named(sql, page, now)}`;
      if (!row || row.is_past || !(await isThere(sql, ownersOf(row)))) return null;
      return {
        ...itemOf(row),
        requestHeaders: row.request_headers,
        requestBody: row.request_body,
        responseHeaders: row.response_headers,
        responseBody: row.response_body,
      };
    },
  };
}

interface Owners {
  readonly connectionId: PublicId | null;
  readonly destinationId: PublicId | null;
}

/** A Destination whose records count to a Connection is not their owner. */
function ownersOf(row: ItemRow): Owners {
  const { connection_id: connectionId, destination_id: destinationId } = row;
  return { connectionId, destinationId: connectionId === null ? destinationId : null };
}

/** Whether the owners that are named exist. */
async function isThere(sql: Sql, { connectionId, destinationId }: Owners): Promise<boolean> {
  if (connectionId === null && destinationId === null) return true;
  const [row] = await sql<{ there: boolean }[]>`
    select
      ${connectionId === null ? sql`true` : sql`exists (select 1 from connections where id = ${connectionId} and deleted_at is null)`}
      and
      ${destinationId === null ? sql`true` : sql`exists (select 1 from destinations where id = ${destinationId} and deleted_at is null)`}
      as there`;
  return row?.there ?? false;
}

/**
 * One more than a page, newest first; what is past the number that its owner keeps is marked. Indexes:
 * request_records_owner of a Connection or a webhook, request_records_destination of another Destination,
 * request_records_run of a run alone.
 */
export function requestsStatement(sql: Sql, query: RequestsQuery, now: Micros): Fragment {
  const { direction, operation, statusClass, alertGroupId, after, limit } = query;
  const conditions = [inTime(sql, now), ...scopeConditions(sql, query)];
  if (direction !== null) conditions.push(sql`direction = ${direction}`);
  if (operation !== null) conditions.push(sql`operation = ${operation}`);
  if (statusClass !== null) conditions.push(statusCondition(sql, statusClass));
  if (alertGroupId !== null) conditions.push(sql`alert_group_id = ${alertGroupId}`);
  if (after) conditions.push(sql`(at, id) < (${after[0]}::bigint, ${after[1]})`);
  return named(
    sql,
    sql`
      select * from request_records where ${allOf(sql, conditions)}
      order by at desc, id desc limit ${limit + 1}`,
    now,
  );
}

function scopeConditions(sql: Sql, { connectionId, destinationId, run }: RequestsQuery): Fragment[] {
  const conditions: Fragment[] = [];
  if (connectionId !== null) conditions.push(sql`owner_id = ${connectionId}`);
  if (destinationId !== null) {
    conditions.push(sql`(
      owner_id = ${destinationId} or (destination_id = ${destinationId} and destination_id <> owner_id)
    )`);
  }
  if (run !== null) conditions.push(sql`check_run = ${run}`);
  return conditions;
}

function statusCondition(sql: Sql, statusClass: StatusClass): Fragment {
  if (statusClass === 'none') return sql`status is null`;
  const from = Number(statusClass[0]) * 100;
  return sql`status >= ${from} and status < ${from + 100}`;
}

/** Young enough; what a check of something unsaved did is kept for a shorter time. */
function inTime(sql: Sql, now: Micros): Fragment {
  return sql`at >= ${now - KEPT_FOR} and (owner_id <> '' or at >= ${now - DRAFTS_KEPT_FOR})`;
}

/** With names, and whether a record is past the number that its owner keeps. Index: request_records_owner. */
function named(sql: Sql, page: Fragment, now: Micros): Fragment {
  return sql`
    with page as materialized (${page}),
    past as materialized (
      select owner_id, oldest.at, oldest.id
      from (select distinct owner_id from page) owners
      cross join lateral (
        select at, id from request_records r
        where r.owner_id = owners.owner_id and r.at >= ${now - KEPT_FOR}
        order by at desc, id desc offset ${KEPT_OF_OWNER} limit 1
      ) oldest
    )
    select
      page.*, d.name as destination_name, g.number as alert_group_number,
      past.at is not null and (page.at, page.id) <= (past.at, past.id) as is_past
    from page
    left join past using (owner_id)
    left join destinations d on d.id = page.destination_id
    left join alert_groups g on g.id = page.alert_group_id
    order by page.at desc, page.id desc`;
}

interface ItemRow {
  readonly id: PublicId;
  readonly at: Micros;
  readonly direction: 'outbound' | 'inbound';
  readonly operation: string;
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
  readonly latency_ms: number;
  readonly via: 'direct' | 'proxy' | null;
  readonly attempt: number;
  readonly error_class: string | null;
  readonly error_code: string | null;
  readonly error: string | null;
  readonly check_kind: RequestCheck | null;
  readonly check_run: PublicId | null;
  readonly connection_id: PublicId | null;
  readonly destination_id: PublicId | null;
  readonly destination_name: string | null;
  readonly alert_group_id: PublicId | null;
  readonly alert_group_number: number | null;
  readonly request_body_bytes: number | null;
  readonly request_body_truncated: boolean;
  readonly response_body_bytes: number | null;
  readonly response_body_truncated: boolean;
  readonly is_past: boolean;
}

interface DetailRow extends ItemRow {
  readonly request_headers: HeaderList;
  readonly request_body: string | null;
  readonly response_headers: HeaderList | null;
  readonly response_body: string | null;
}

function itemOf(row: ItemRow): RequestItem {
  const { destination_id: destinationId, alert_group_id: groupId } = row;
  return {
    id: row.id,
    at: row.at,
    direction: row.direction,
    operation: row.operation,
    method: row.method,
    url: row.url,
    status: row.status,
    latencyMs: row.latency_ms,
    via: row.via,
    attempt: row.attempt,
    errorClass: row.error_class,
    errorCode: row.error_code,
    error: row.error,
    check: row.check_kind,
    checkRun: row.check_run,
    connectionId: row.connection_id,
    destination: destinationId === null ? null : { id: destinationId, name: row.destination_name ?? '' },
    // An Alert Group that retention has removed is no longer referred to.
    alertGroup:
      groupId === null || row.alert_group_number === null
        ? null
        : { id: groupId, number: row.alert_group_number },
    requestBodyBytes: row.request_body_bytes,
    requestBodyTruncated: row.request_body_truncated,
    responseBodyBytes: row.response_body_bytes,
    responseBodyTruncated: row.response_body_truncated,
  };
}
