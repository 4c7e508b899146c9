/** What a feed's turn asks for, as plain data. */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Presence } from './rows.ts';

/** A Stored Snapshot left the queue. Written by the commit that makes it so. */
export interface SnapshotSettled extends RecordedEffect {
  readonly type: 'snapshot.settled';
  readonly seq: number;
  /** µs. */
  readonly processedAt: Micros;
  /** Null when the body was not understood; so are the counts. */
  readonly groupKey: string | null;
  readonly alertCount: number | null;
  readonly truncatedAlerts: number | null;
  /** Null: processed. Otherwise the Snapshot is failed, and why. */
  readonly error: string | null;
}

/** Records the receipt of a Snapshot for a feed; creates the feed's row when there is none. */
export interface FeedHeard extends RecordedEffect {
  readonly type: 'feed.heard';
  readonly feed: string;
  readonly integrationId: PublicId;
  readonly groupKey: string;
  /** µs. */
  readonly receivedAt: Micros;
  /** The feed may have no row yet. */
  readonly first: boolean;
  /** Only with the first; null, too, when it is too long to be learned from. */
  readonly routePath: string | null;
}

export interface PresencesChanged extends RecordedEffect {
  readonly type: 'feed.presences';
  readonly feed: string;
  readonly saved: readonly Presence[];
  /** Fingerprints. */
  readonly removed: readonly string[];
}

/** Performed after the commit: the one report of a processed or failed Snapshot, for the log and the metrics. */
export interface SnapshotReported extends PerformedEffect {
  readonly type: 'snapshot.reported';
  readonly integrationId: PublicId;
  readonly snapshotId: PublicId;
  /** µs. */
  readonly receivedAt: Micros;
  readonly groupKey: string;
  readonly alerts: number;
  readonly truncatedAlerts: number;
  /** It came too late to mean more than its resolved entries, or was replayed: it is not counted. */
  readonly late: boolean;
  readonly counts: SnapshotCounts;
  /** Why it failed, or null. */
  readonly error: string | null;
}

/** Performed after the commit: an Internal alert fires or ended, for the log. */
export interface InternalAlertReported extends PerformedEffect {
  readonly type: 'internal_alert.reported';
  readonly change: 'raised' | 'resolved';
  readonly alertname: string;
  readonly fingerprint: string;
  /** Null for an alert about the installation. */
  readonly entityId: string | null;
}

/** What a Snapshot brought, as handed on by its feed (ingestion §14). */
export interface SnapshotCounts {
  readonly fired: number;
  readonly resolved: number;
  readonly gone: number;
  readonly continued: number;
  readonly dropped: number;
}

export const NO_COUNTS: SnapshotCounts = { fired: 0, resolved: 0, gone: 0, continued: 0, dropped: 0 };

export type FeedRecord = SnapshotSettled | FeedHeard | PresencesChanged;
