/** The queue of Snapshots as each of several replicas reads it: by the shards it owns (operations §5.2, ingestion §5). */
import type { ShardPage, ShardRange, SnapshotQueue } from '../actors/feed/ports.ts';
import { numberArray } from './array-literals.ts';
import { pinPlans, type QueuedRow, queuedOf } from './queued-rows.ts';
import type { Sql, Transaction } from './records.ts';
import { together } from './together.ts';
import { inTransaction } from './transaction.ts';

/** Above every number: the end of a range that has none. */
const WITHOUT_END = Number.MAX_SAFE_INTEGER;

export function createShardQueue(sql: Sql): Pick<SnapshotQueue, 'pageOf' | 'unsorted' | 'sort'> {
  return {
    pageOf: (ranges, limit) => inTransaction(sql, (tx) => readPage(tx, ranges, limit)),
    async unsorted(limit) {
      // Index: snapshot_queue_pkey. Only what a single process or the previous release left is found here.
      const rows = await sql<QueuedRow[]>`
        select
          seq, id, integration_id, received_at, encode(body_hash, 'hex') as body_hash, size_bytes,
          replay_of_processed
        from snapshot_queue where shard is null order by seq limit ${limit}`;
      return rows.map(queuedOf);
    },
    async sort(places) {
      // Locked in the order in which everybody locks rows of the queue.
      await sql`
        with place as (
          select * from unnest(
            ${numberArray(places.map(({ seq }) => seq))}::bigint[],
            ${numberArray(places.map(({ shard }) => shard))}::smallint[]
          ) as p (seq, shard)
        ), waiting as materialized (
          select seq from snapshot_queue where seq in (select seq from place) order by seq for update
        )
        update snapshot_queue q set shard = place.shard
        from waiting join place using (seq)
        where q.seq = waiting.seq and q.shard is distinct from place.shard`;
    },
  };
}

interface ShardedRow extends QueuedRow {
  readonly shard: number;
}

/**
 * The last number drawn is read by a statement of its own before the page: whoever drew one up to there after an answer
 * finds what was answered in the page. Index: snapshot_queue_by_shard, once for each range.
 */
async function readPage(tx: Transaction, ranges: readonly ShardRange[], limit: number): Promise<ShardPage> {
  const [, numbers, rows] = await together(
    pinPlans(tx),
    tx<{ drawn: number }[]>`select last_value as drawn from snapshot_number`,
    tx<ShardedRow[]>`
      select range.shard, q.*
      from unnest(
        ${numberArray(ranges.map(({ shard }) => shard))}::smallint[],
        ${numberArray(ranges.map(({ after }) => after))}::bigint[],
        ${numberArray(ranges.map(({ upTo }) => upTo ?? WITHOUT_END))}::bigint[]
      ) as range (shard, after, up_to)
      cross join lateral (
        select
          seq, id, integration_id, received_at, encode(body_hash, 'hex') as body_hash, size_bytes,
          replay_of_processed
        from snapshot_queue
        where shard = range.shard and seq > range.after and seq <= range.up_to
        order by seq
        limit ${limit}
      ) q
      order by q.seq`,
  );
  const [newest] = numbers;
  if (!newest) throw new Error('the sequence snapshot_number is empty');
  return { snapshots: rows.map((row) => ({ ...queuedOf(row), shard: row.shard })), drawn: newest.drawn };
}
