/** What was received last, for trying templates on it (templates §10). */
import type { SampleSnapshots } from '../actors/previews/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { wordArray } from './array-literals.ts';
import { bodiesOf, inPages, isNew, type ListedBody } from './preview-bodies.ts';
import type { Sql } from './records.ts';
import { keptSince } from './stored-snapshots.ts';

/** Snapshots of each Integration that are looked at, and of all together. */
const MOST = 200;
/** Once bodies of so many bytes were looked at no further one is. */
const MOST_BYTES = 32 * 1024 * 1024;

export function createSampleSnapshots(sql: Sql): SampleSnapshots {
  return {
    async *newest(integrationIds, now) {
      const known = new Set<string>();
      const listed = await list(sql, integrationIds, await keptSince(sql, now));
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
async function list(
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
