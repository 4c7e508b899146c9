/** How durable Snapshots reach their feeds: what both ways share, and what the rest of ingestion sees of them. */
import type { QueuedSnapshot } from '../../actors/feed/ports.ts';
import type { StoredSnapshot } from './accept-queue.ts';

/** Hands durable Snapshots to their feeds, each once and those of a feed in order of arrival (ingestion §5). */
export interface Intake {
  /** Begins with what the last process left. Before, Snapshots only gather in the database. */
  start(): void;
  /** Hands on nothing more; what waits stays in the database. */
  stop(): void;
  /** Newly committed Snapshots, in order. */
  accepted(snapshots: readonly StoredSnapshot[]): void;
  /** A write failed, and what it held may be stored all the same. */
  uncertain(): void;
  /** This process committed Snapshots of these shards together with something else (internal-alerts §2.1.2). */
  stored(shards: readonly number[]): void;
  /** Another replica says that it stored Snapshots of these shards; of any shard when not given. */
  poke(shards?: readonly number[]): void;
}

/** What handing on needs of a Snapshot besides what its body says. */
export type Arrived = Pick<QueuedSnapshot, 'seq' | 'id' | 'integrationId' | 'receivedAt' | 'replayed'>;

/** Snapshots read back from the queue at a time. */
export const PAGE_SNAPSHOTS = 500;
