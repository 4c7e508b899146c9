/** What people read of Stored Snapshots. Implemented by storage; instants are µs (ingestion §9). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';

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

/** Nothing that was received before what retention keeps is ever read, removed or not. */
export interface StoredSnapshotReader {
  /** Newest first. */
  list(query: StoredSnapshotsQuery, now: Micros): Promise<StoredSnapshotsPage>;
  /** Null when unknown or past retention. */
  read(id: PublicId, now: Micros): Promise<StoredSnapshotBody | null>;
}
