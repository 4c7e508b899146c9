/** Bodies of Stored Snapshots, newest first and each once, for previews of Group keys (routes §9) and templates. */
import type { SampleSnapshots } from '../../actors/previews/samples.ts';
import type { PreviewBodies } from '../../actors/route/ports.ts';
import { DAY, MINUTE, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { readOrganization } from '../configuration/organization.ts';
import { wordArray } from '../postgres/bulk-parameters.ts';
import type { Sql } from '../postgres/records.ts';
import { keptSince } from './stored-snapshots.ts';

/** A period is read from its end in slices, each twice as long as the one before: most previews need the newest part. */
const FIRST_SLICE: Micros = 10 * MINUTE;
const LONGEST_SLICE: Micros = DAY;

/** Bodies in memory at a time; one alone may be longer. */
const PAGE_BODIES = 100;
const PAGE_BYTES = 4 * 1024 * 1024;

/** A body that was received, before it is read. */
interface ListedBody {
  readonly integration_id: PublicId;
  readonly hash: string;
  readonly received_at: Micros;
  readonly seq: number;
  readonly size_bytes: number;
}

export function createPreviewBodies(sql: Sql): PreviewBodies {
  return {
    async retentionDays() {
      const { settings } = await readOrganization(sql);
      return settings.retention.stored_snapshots_days;
    },

    async *newestFirst({ integrationIds, after, until }) {
      const known = new Set<string>();
      let length = FIRST_SLICE;
      for (let end = until; end > after; ) {
        const start = Math.max(after, end - length);
        const listed = await list(sql, integrationIds, start, end);
        const unread = listed.filter((each) => isNew(known, each));
        for (const page of inPages(unread)) yield* bodiesOf(sql, page);
        end = start;
        length = Math.min(length * 2, LONGEST_SLICE);
      }
    },
  };
}

/** Whether the body of this Integration was not met before; from now on it was. */
function isNew(known: Set<string>, { integration_id, hash }: ListedBody): boolean {
  const key = `${integration_id}/${hash}`;
  if (known.has(key)) return false;
  known.add(key);
  return true;
}

/** The newest of each body and Integration. Index: stored_snapshots_list; the queue holds what just arrived. */
async function list(
  sql: Sql,
  integrationIds: readonly PublicId[],
  after: Micros,
  until: Micros,
): Promise<readonly ListedBody[]> {
  const ids = wordArray(integrationIds);
  const rows = await sql<ListedBody[]>`
    with listed as (
      select s.*
      from unnest(${ids}::text[]) as wanted (id)
      cross join lateral (
        select integration_id, body_hash, received_at, seq, size_bytes
        from stored_snapshots
        where integration_id = wanted.id and received_at > ${after} and received_at <= ${until}
          and processing_error is null
      ) s
      union all
      select integration_id, body_hash, received_at, seq, size_bytes
      from snapshot_queue
      where integration_id = any(${ids}::text[]) and received_at > ${after} and received_at <= ${until}
    )
    select distinct on (integration_id, body_hash)
      integration_id, encode(body_hash, 'hex') as hash, received_at, seq, size_bytes
    from listed
    order by integration_id, body_hash, received_at desc, seq desc`;
  return [...rows].sort((left, right) => right.received_at - left.received_at || right.seq - left.seq);
}

/** Cuts a list into parts that fit into memory. */
function* inPages(listed: readonly ListedBody[]): Generator<readonly ListedBody[]> {
  let page: ListedBody[] = [];
  let bytes = 0;
  for (const each of listed) {
    if (page.length > 0 && (page.length === PAGE_BODIES || bytes + each.size_bytes > PAGE_BYTES)) {
      yield page;
      page = [];
      bytes = 0;
    }
    page.push(each);
    bytes += each.size_bytes;
  }
  if (page.length > 0) yield page;
}

/** In the order of the page; what retention removed meanwhile is left out. */
async function* bodiesOf(sql: Sql, page: readonly ListedBody[]) {
  const rows = await sql<{ place: number; body: Buffer }[]>`
    select wanted.place, b.body
    from unnest(
      ${page.map(({ received_at }) => Math.floor(received_at / DAY))}::int[], ${page.map(({ hash }) => hash)}::text[]
    ) with ordinality as wanted (day, hash, place)
    join snapshot_bodies b on b.day = wanted.day and b.hash = decode(wanted.hash, 'hex')
    order by wanted.place`;
  for (const { place, body } of rows) {
    const listed = page[place - 1];
    if (listed) yield { integrationId: listed.integration_id, body };
  }
}

/** Snapshots of each Integration that are looked at, and of all together. */
const MOST = 200;
/** Once bodies of so many bytes were looked at no further one is. */
const MOST_BYTES = 32 * 1024 * 1024;

export function createSampleSnapshots(sql: Sql): SampleSnapshots {
  return {
    async *newest(integrationIds, now) {
      const known = new Set<string>();
      const listed = await listNewest(sql, integrationIds, await keptSince(sql, now));
      let bytes = 0;
      const looked = listed.filter((each) => {
        if (bytes >= MOST_BYTES || !isNew(known, each)) return false;
        bytes += each.size_bytes;
        return true;
      });
      for (const page of inPages(looked)) yield* bodiesOf(sql, page);
    },
  };
}

/** Index: stored_snapshots_list; the queue holds what just arrived. */
async function listNewest(
  sql: Sql,
  integrationIds: readonly PublicId[],
  kept: Micros,
): Promise<readonly ListedBody[]> {
  const ids = wordArray(integrationIds);
  return sql<ListedBody[]>`
    with listed as (
      select s.*
      from unnest(${ids}::text[]) as wanted (id)
      cross join lateral (
        select integration_id, body_hash, received_at, seq, size_bytes
        from stored_snapshots
        where integration_id = wanted.id and received_at >= ${kept} and processing_error is null
        order by received_at desc, seq desc
        limit ${MOST}
      ) s
      union all
      select integration_id, body_hash, received_at, seq, size_bytes
      from snapshot_queue
      where integration_id = any(${ids}::text[]) and received_at >= ${kept}
    )
    select integration_id, encode(body_hash, 'hex') as hash, received_at, seq, size_bytes
    from listed
    order by received_at desc, seq desc
    limit ${MOST}`;
}
