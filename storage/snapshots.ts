/** Stored Snapshots: the queue of those that wait, and the commit that settles them (ingestion §3, §5, §9). */
import type { FeedRecord, SnapshotSettled } from '../actors/feed/effects.ts';
import type { FeedMessage } from '../actors/feed/messages.ts';
import type { FailedSnapshot, SnapshotQueue } from '../actors/feed/ports.ts';
import { type Receipt, ReceiptGoneError, type RecordedEffect } from '../runtime/actor/index.ts';
import type { Micros } from '../runtime/clock.ts';
import { numberArray, textArray } from './array-literals.ts';
import { dayOf } from './day.ts';
import type { PartitionedTable } from './partitions.ts';
import { pinPlans, type QueuedRow, queuedOf } from './queued-rows.ts';
import type { ReceiptConsumer, RecordWriter, Sql, Transaction } from './records.ts';
import { createShardQueue } from './snapshot-shards.ts';
import { together } from './together.ts';

/**
 * The tables that are partitioned by UTC day, and what a new partition needs. Bodies up to 8 KB stay in their row:
 * moved out and compressed they would cost several times as much to write.
 */
export const snapshotPartitions = [
  { table: 'snapshot_bodies', period: 'day', unit: 'day_number', storage: 'toast_tuple_target = 8160' },
  { table: 'stored_snapshots', period: 'day', unit: 'micros', storage: null },
] as const satisfies readonly PartitionedTable[];

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
    error: `processing: ${error.message}`,
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
          replay_of_processed
        from snapshot_queue where seq > ${after} order by seq limit ${limit}`;
      return rows.map(queuedOf);
    },
    async bodies(snapshots) {
      const rows = await sql<{ hash: string; body: Buffer }[]>`
        select encode(b.hash, 'hex') as hash, b.body
        from (
          select distinct * from unnest(
            ${numberArray(snapshots.map(({ receivedAt }) => dayOf(receivedAt)))}::integer[],
            ${snapshots.map(({ bodyHash }) => bodyHash)}::text[]
          )
        ) as wanted (day, hash)
        join snapshot_bodies b on b.day = wanted.day and b.hash = decode(wanted.hash, 'hex')`;
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
  await together(
    pinPlans(tx),
    tx`
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
      select`,
  );
}

/** @throws {ReceiptGoneError} another commit settled some of them before */
async function dequeue(tx: Transaction, receipts: readonly SnapshotReceipt[]): Promise<void> {
  const [, gone] = await together(
    pinPlans(tx),
    tx<{ seq: number }[]>`
      delete from snapshot_queue where seq = any(${numberArray(receipts.map(({ seq }) => seq))}::bigint[])
      returning seq`,
  );
  if (gone.length === receipts.length) return;
  const used = new Set(gone.map(({ seq }) => seq));
  throw new ReceiptGoneError(receipts.filter(({ seq }) => !used.has(seq)));
}
