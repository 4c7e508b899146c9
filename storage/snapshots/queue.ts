/** The queue of Stored Snapshots, by number and by shard, and the commit that settles them (ingestion §3, §5, §9). */
import { failureReason } from '../../actors/feed/body.ts';
import type { FeedRecord, SnapshotSettled } from '../../actors/feed/effects.ts';
import type { FeedMessage } from '../../actors/feed/messages.ts';
import type {
  FailedSnapshot,
  QueuedSnapshot,
  ShardPage,
  ShardRange,
  SnapshotQueue,
} from '../../actors/feed/ports.ts';
import { type Receipt, ReceiptGoneError, type RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { numberArray, textArray } from '../postgres/bulk-parameters.ts';
import { dayOf, type PartitionedTable } from '../postgres/partitions.ts';
import type { ReceiptConsumer, RecordWriter, Sql, Transaction } from '../postgres/records.ts';
import { inTransaction, pinPlans, together } from '../postgres/transaction.ts';

/**
 * The tables that are partitioned by UTC day, and what a new partition needs. Bodies up to 8 KB stay in their row:
 * moved out and compressed they would cost several times as much to write.
 */
export const snapshotPartitions = [
  { table: 'snapshot_bodies', period: 'day', unit: 'day_number', storage: 'toast_tuple_target = 8160' },
  { table: 'stored_snapshots', period: 'day', unit: 'micros', storage: null },
] as const satisfies readonly PartitionedTable[];

/** Of a large body read with one statement: the driver decodes each in one go. */
const PIECE_BYTES = 1024 * 1024;

/** Among how many slots the connections that count for one Integration are spread. */
const COUNTER_SLOTS = 64;

/** Moves settled Snapshots from the queue's table to their own. The queue's rows are deleted by their receipts. */
export const settledSnapshots: RecordWriter = {
  types: ['snapshot.settled'],
  write: (tx, effects) => settle(tx, effects as readonly SnapshotSettled[]),
};

/** Uses up the queue's rows in the commit that settles them. Runs after {@link settledSnapshots}. */
export const snapshotReceipts: ReceiptConsumer = {
  kind: 'snapshot',
  consume: dequeue,
};

/** What is recorded of a Snapshot whose processing broke; the engine consumes its receipt (ingestion §4.2). */
export function snapshotSetAside(message: FeedMessage, error: Error, now: Micros): readonly RecordedEffect[] {
  if (message.type !== 'snapshot') return [];
  const { groupKey, entries, truncatedAlerts } = message.snapshot;
  const failed: FeedRecord = {
    type: 'snapshot.settled',
    seq: message.seq,
    processedAt: now,
    groupKey,
    alertCount: entries.length,
    truncatedAlerts,
    error: failureReason(error),
  };
  return [failed];
}

export function createSnapshotQueue(sql: Sql): SnapshotQueue {
  return {
    ...createShardQueue(sql),
    // Index: snapshot_queue_pkey.
    async page(after, limit) {
      const rows = await sql<QueuedRow[]>`
        select
          seq, id, integration_id, received_at, encode(body_hash, 'hex') as body_hash, size_bytes,
          shard, replay_of_processed
        from snapshot_queue where seq > ${after} order by seq limit ${limit}`;
      return rows.map(queuedOf);
    },
    async beginAttempt(seq) {
      const [row] = await sql<{ attempts: number }[]>`
        update snapshot_queue set attempts = attempts + 1 where seq = ${seq} returning attempts`;
      return row?.attempts ?? 0;
    },
    async forgetAttempt(seq) {
      await sql`update snapshot_queue set attempts = attempts - 1 where seq = ${seq} and attempts > 0`;
    },
    async body({ receivedAt, bodyHash, sizeBytes }) {
      const pieces: Buffer[] = [];
      for (let from = 0; from < sizeBytes; from += PIECE_BYTES) {
        // Index: snapshot_bodies_pkey.
        const [row] = await sql<{ piece: Buffer }[]>`
          select substring(body from ${from + 1} for ${PIECE_BYTES}) as piece
          from snapshot_bodies where day = ${dayOf(receivedAt)} and hash = decode(${bodyHash}, 'hex')`;
        if (row === undefined) return null;
        pieces.push(row.piece);
      }
      return Buffer.concat(pieces);
    },
    async bodies(snapshots) {
      // Index: snapshot_bodies_pkey. The limit keeps a plan made while there were few from reading all of them.
      const rows = await sql<{ hash: string; body: Buffer }[]>`
        select wanted.hash, b.body
        from (
          select distinct * from unnest(
            ${numberArray(snapshots.map(({ receivedAt }) => dayOf(receivedAt)))}::integer[],
            ${snapshots.map(({ bodyHash }) => bodyHash)}::text[]
          )
        ) as wanted (day, hash)
        cross join lateral (
          select body from snapshot_bodies where day = wanted.day and hash = decode(wanted.hash, 'hex') limit 1
        ) b`;
      return new Map(rows.map(({ hash, body }) => [hash, body]));
    },
    async fail(failures) {
      await sql.begin(async (tx) => {
        const waiting = await claim(tx, failures);
        await settle(
          tx,
          waiting.map(({ seq, at, error }) => ({
            type: 'snapshot.settled',
            seq,
            processedAt: at,
            groupKey: null,
            alertCount: null,
            truncatedAlerts: null,
            error,
          })),
        );
        await dequeue(
          tx,
          waiting.map(({ seq, at }) => ({ kind: 'snapshot', seq, receivedAt: at })),
        );
      });
    },
  };
}

type SnapshotReceipt = Extract<Receipt, { kind: 'snapshot' }>;

/**
 * Those that still wait, kept from everybody else until the end of the transaction. The others are settled: most
 * likely by an earlier try whose answer was lost.
 */
async function claim(tx: Transaction, failures: readonly FailedSnapshot[]): Promise<FailedSnapshot[]> {
  const [, rows] = await together(
    pinPlans(tx),
    tx<{ seq: number }[]>`
      select seq from snapshot_queue
      where seq = any(${numberArray(failures.map(({ seq }) => seq))}::bigint[])
      order by seq for update`,
  );
  const waiting = new Set(rows.map(({ seq }) => seq));
  return failures.filter(({ seq }) => waiting.has(seq));
}

/** One that is not in the queue any more is left out here, and refused by its receipt. */
async function settle(tx: Transaction, settled: readonly SnapshotSettled[]): Promise<void> {
  await tx`
    with outcome as (
      select * from unnest(
        ${numberArray(settled.map(({ seq }) => seq))}::bigint[],
        ${numberArray(settled.map(({ processedAt }) => processedAt))}::bigint[],
        ${textArray(settled.map(({ groupKey }) => groupKey))}::text[],
        ${numberArray(settled.map(({ alertCount }) => alertCount))}::integer[],
        ${numberArray(settled.map(({ truncatedAlerts }) => truncatedAlerts))}::integer[],
        ${textArray(settled.map(({ error }) => error))}::text[]
      ) as o (seq, processed_at, group_key, alert_count, truncated_alerts, processing_error)
    ), stored as (
      insert into stored_snapshots (
        received_at, seq, id, integration_id, body_hash, size_bytes, content_type,
        processed_at, group_key, alert_count, truncated_alerts, processing_error, processed_before
      )
      select q.received_at, q.seq, q.id, q.integration_id, q.body_hash, q.size_bytes, q.content_type,
        o.processed_at, o.group_key, o.alert_count, o.truncated_alerts, o.processing_error,
        q.replay_of_processed
      from outcome o join snapshot_queue q on q.seq = o.seq
    ), counted as (
      insert into integration_counter_slots (integration_id, slot, snapshot_count, last_snapshot_at)
      select q.integration_id, pg_backend_pid() % ${COUNTER_SLOTS}, count(*), max(q.received_at)
      from outcome o join snapshot_queue q on q.seq = o.seq
      where not q.is_replay
      group by q.integration_id order by q.integration_id
      on conflict (integration_id, slot) do update set
        snapshot_count = integration_counter_slots.snapshot_count + excluded.snapshot_count,
        last_snapshot_at = greatest(integration_counter_slots.last_snapshot_at, excluded.last_snapshot_at)
    )
    select`;
}

/** @throws {ReceiptGoneError} another commit settled some of them before */
async function dequeue(tx: Transaction, receipts: readonly SnapshotReceipt[]): Promise<void> {
  const gone = await tx<{ seq: number }[]>`
    delete from snapshot_queue where seq = any(${numberArray(receipts.map(({ seq }) => seq))}::bigint[])
    returning seq`;
  if (gone.length === receipts.length) return;
  const used = new Set(gone.map(({ seq }) => seq));
  throw new ReceiptGoneError(receipts.filter(({ seq }) => !used.has(seq)));
}

/** Above every number: the end of a range that has none. */
const WITHOUT_END = Number.MAX_SAFE_INTEGER;

function createShardQueue(sql: Sql): Pick<SnapshotQueue, 'pageOf' | 'unsorted' | 'sort'> {
  return {
    pageOf: (ranges, limit) => inTransaction(sql, (tx) => readPage(tx, ranges, limit)),
    async unsorted(limit) {
      // Index: snapshot_queue_pkey. Only what a single process or the previous release left is found here.
      const rows = await sql<QueuedRow[]>`
        select
          seq, id, integration_id, received_at, encode(body_hash, 'hex') as body_hash, size_bytes,
          shard, replay_of_processed
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

interface QueuedRow {
  readonly seq: number;
  readonly id: QueuedSnapshot['id'];
  readonly integration_id: QueuedSnapshot['integrationId'];
  readonly received_at: number;
  readonly body_hash: string;
  readonly size_bytes: number;
  readonly shard: number | null;
  readonly replay_of_processed: boolean;
}

function queuedOf(row: QueuedRow): QueuedSnapshot {
  return {
    seq: row.seq,
    id: row.id,
    integrationId: row.integration_id,
    receivedAt: row.received_at,
    bodyHash: row.body_hash,
    sizeBytes: row.size_bytes,
    shard: row.shard,
    ...(row.replay_of_processed ? { replayed: true as const } : {}),
  };
}
