/** The Request log in Postgres (outbound-http §4.6): written in batches, bounded by age and by number an owner. */
import type { Micros } from '../runtime/clock.ts';
import { DRAFTS_KEPT_FOR, KEPT_FOR, KEPT_OF_OWNER } from '../runtime/outbound/request-log/reader.ts';
import { ownerOf, type RequestRecord } from '../runtime/outbound/request-log/record.ts';
import type { RequestLogStore, Superseded } from '../runtime/outbound/request-log/recorder.ts';
import { numberArray, wordArray } from './array-literals.ts';
import { jsonText } from './json-text.ts';
import type { Sql } from './records.ts';

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

/** A record of an owner that was deleted meanwhile is left out: its records went with it. */
async function insert(sql: Sql, records: readonly RequestRecord[]): Promise<void> {
  const rows = records.map(rowOf);
  const [first] = rows;
  if (first === undefined) return;
  // A newer schema may have more columns: these keep their defaults.
  const columns = sql(Object.keys(first));
  await sql`
    insert into request_records (${columns})
    select ${columns}
    from jsonb_populate_recordset(null::request_records, ${jsonText(rows)}::text::jsonb) record
    where not exists (
      select 1 from destinations d where d.id = record.owner_id and d.deleted_at is not null
      union all
      select 1 from connections c where c.id = record.owner_id and c.deleted_at is not null
    )
    on conflict do nothing`;
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
