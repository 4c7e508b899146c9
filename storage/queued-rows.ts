/** What every statement on the queue of Snapshots shares. */
import type { QueuedSnapshot } from '../actors/feed/ports.ts';
import type { Transaction } from './records.ts';

/**
 * The queue swings between empty and millions of rows, and a plan made while it was empty would read it from end to
 * end for ever after. By key is right at every size.
 */
export function pinPlans(tx: Transaction): Promise<unknown> {
  return tx`select set_config('enable_seqscan', 'off', true)`.execute();
}

export interface QueuedRow {
  readonly seq: number;
  readonly id: QueuedSnapshot['id'];
  readonly integration_id: QueuedSnapshot['integrationId'];
  readonly received_at: number;
  readonly body_hash: string;
  readonly size_bytes: number;
  readonly replay_of_processed: boolean;
}

export function queuedOf(row: QueuedRow): QueuedSnapshot {
  return {
    seq: row.seq,
    id: row.id,
    integrationId: row.integration_id,
    receivedAt: row.received_at,
    bodyHash: row.body_hash,
    sizeBytes: row.size_bytes,
    ...(row.replay_of_processed ? { replayed: true as const } : {}),
  };
}
