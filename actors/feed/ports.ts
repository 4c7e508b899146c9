/** What ingestion asks of storage. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertHistory, Slot } from '../model.ts';

/** Where an Alert is known. */
export interface Home {
  readonly groupId: PublicId;
  /** The Alert belongs there still: it fires there, or that Alert Group is open and not moved (ingestion §5.1). */
  readonly live: boolean;
  readonly history: AlertHistory;
}

export interface AskedPlace {
  readonly fingerprint: string;
  /** Where the Alert would start a firing; null: only its home is asked for. */
  readonly slot: Pick<Slot, 'routeId' | 'keyHash'> | null;
}

export interface FoundPlaces {
  /** The latest home of each known Alert, by fingerprint. */
  readonly homes: ReadonlyMap<string, Home>;
  /** By fingerprint, of Alerts with a Slot and without a live home: the Alert Group that the Slot names. */
  readonly targets: ReadonlyMap<string, PublicId>;
  /** Those of {@link targets} that no Slot named before this asking: their actors were never stored. */
  readonly fresh: ReadonlySet<PublicId>;
}

export interface Places {
  /**
   * Reads committed data only. A Slot met for the first time gets a fresh id, committed before the answer. May be a
   * moment old: a group passes on what is not its own.
   */
  find(integrationId: PublicId, asked: readonly AskedPlace[]): Promise<FoundPlaces>;
}

/** A Snapshot about to be stored. */
export interface NewSnapshot {
  readonly id: PublicId;
  readonly integrationId: PublicId;
  /** When its body was complete, µs. */
  readonly receivedAt: Micros;
  /** The bytes exactly as sent. */
  readonly body: Buffer;
  /** SHA-256 of the body in hexadecimal. */
  readonly bodyHash: string;
  readonly contentType: string | null;
  /** The shard of its feed; null where one process owns all of them. */
  readonly shard: number | null;
}

export interface SnapshotWriter {
  /**
   * Commits all or none; their order is the order of arrival. One call at a time in a process; of several processes,
   * what one begins after another's answer gets the higher numbers.
   * @returns their numbers, rising
   * @throws what the driver throws; without an answer from the server they may or may not be stored
   */
  write(snapshots: readonly NewSnapshot[]): Promise<readonly number[]>;
}

/** A durable Snapshot that waits to be processed. */
export interface QueuedSnapshot {
  /** Place in the order of arrival. */
  readonly seq: number;
  readonly id: PublicId;
  readonly integrationId: PublicId;
  /** µs. */
  readonly receivedAt: Micros;
  readonly bodyHash: string;
  readonly sizeBytes: number;
  /**
   * Shard of its feed, if it was known when the Snapshot was stored; a single process knows it for large bodies only.
   */
  readonly shard: number | null;
  /** It was processed before, and waits to be processed again. */
  readonly replayed?: true;
}

/** One that waits, with the shard it was stored for. */
export interface ShardedSnapshot extends QueuedSnapshot {
  readonly shard: number;
}

/** A part of one shard's queue. */
export interface ShardRange {
  readonly shard: number;
  /** Numbers above this. */
  readonly after: number;
  /** Numbers up to this; null for all there are. */
  readonly upTo: number | null;
}

export interface ShardPage {
  /** In order of arrival. */
  readonly snapshots: readonly ShardedSnapshot[];
  /** The highest number that was drawn before the page was read. Whoever had an answer by then is in the page. */
  readonly drawn: number;
}

export interface FailedSnapshot {
  readonly seq: number;
  /** µs. */
  readonly at: Micros;
  /** Names the place in the body, or the defect. */
  readonly error: string;
}

export interface SnapshotQueue {
  /** Waiting Snapshots of all shards in order of arrival, above `after`. */
  page(after: number, limit: number): Promise<readonly QueuedSnapshot[]>;
  /** The oldest waiting Snapshots of each range, `limit` of each at most. Each shard is in one range. */
  pageOf(ranges: readonly ShardRange[], limit: number): Promise<ShardPage>;
  /** The oldest waiting Snapshots without a shard. */
  unsorted(limit: number): Promise<readonly QueuedSnapshot[]>;
  /** Gives Snapshots that still wait their shards. */
  sort(places: readonly { readonly seq: number; readonly shard: number }[]): Promise<void>;
  /** Counts an attempt to process a Snapshot. @returns how many there were, this one included; 0 when it is settled */
  beginAttempt(seq: number): Promise<number>;
  /** The attempt counts no longer. */
  forgetAttempt(seq: number): Promise<void>;
  /** A large body, read in pieces; null when it is not stored any more. */
  body(snapshot: Pick<QueuedSnapshot, 'receivedAt' | 'bodyHash' | 'sizeBytes'>): Promise<Buffer | null>;
  /** Bodies by hash. */
  bodies(snapshots: readonly QueuedSnapshot[]): Promise<ReadonlyMap<string, Buffer>>;
  /**
   * Marks Snapshots that no feed can process as failed, in a separate transaction. Idempotent: already settled
   * Snapshots are left unchanged.
   */
  fail(failures: readonly FailedSnapshot[]): Promise<void>;
}

/** What people read of Stored Snapshots. Implemented by storage; instants are µs (ingestion §9). */
export const SNAPSHOT_STATES = ['pending', 'processed', 'failed'] as const;
export type SnapshotState = (typeof SNAPSHOT_STATES)[number];

export interface StoredSnapshotItem {
  /** Place in the order of arrival; a replay draws a new one. */
  readonly seq: number;
  readonly id: PublicId;
  readonly integrationId: PublicId;
  readonly receivedAt: Micros;
  readonly sizeBytes: number;
  readonly state: SnapshotState;
  /** Null while pending, and so is everything below. */
  readonly processedAt: Micros | null;
  /** Null, too, when the body was not understood; so are the counts. */
  readonly groupKey: string | null;
  readonly alertCount: number | null;
  readonly truncatedAlerts: number | null;
  readonly processingError: string | null;
}

export interface StoredSnapshotBody extends StoredSnapshotItem {
  /** The bytes exactly as sent. */
  readonly body: Buffer;
  readonly contentType: string | null;
}

export interface StoredSnapshotsQuery {
  readonly integrationId: PublicId;
  /** Received within [from, to). */
  readonly from: Micros | null;
  readonly to: Micros | null;
  /** Empty: every state. */
  readonly states: readonly SnapshotState[];
  /** Sort key of the last item of the page before. */
  readonly after: readonly [receivedAt: Micros, seq: number] | null;
  readonly limit: number;
}

export interface StoredSnapshotsPage {
  readonly items: readonly StoredSnapshotItem[];
  readonly next: readonly [receivedAt: Micros, seq: number] | null;
}

/** Reads nothing that is older than the retention period, whether it was removed yet or not. */
export interface StoredSnapshotReader {
  /** Newest first. */
  list(query: StoredSnapshotsQuery, now: Micros): Promise<StoredSnapshotsPage>;
  /** Null when unknown or past retention. */
  read(id: PublicId, now: Micros): Promise<StoredSnapshotBody | null>;
}
