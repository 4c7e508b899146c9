/** Everything a feed accepts. */
import type { Address } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Snapshot } from './snapshot.ts';

export const FEED = 'feed';

export function feedAddress(key: string): Address {
  return { kind: FEED, key };
}

export type FeedMessage = SnapshotReceived | AlertsEnded | FeedSilent | { readonly type: 'wake' };

/** One Stored Snapshot of this sender group. Delivered with its durable row as receipt, in the order of arrival. */
export interface SnapshotReceived {
  readonly type: 'snapshot';
  /** Place in the order of arrival, the key of the durable row. */
  readonly seq: number;
  readonly snapshotId: PublicId;
  /** µs. */
  readonly receivedAt: Micros;
  readonly snapshot: Snapshot;
  /** It was processed before, and is processed again: it counts as late (ingestion §6.1). */
  readonly replayed: boolean;
}

/**
 * Alerts that no longer fire although this feed listed them (ingestion §5.1 rule 4, §6.2), or that fire without this
 * feed since it resolved them. Sent by the home of the Alerts to every feed with a presence, to a feed whose listing
 * it ignored as an old copy, and to a feed that withdrew. The next listing of such an Alert is evaluated anew.
 */
export interface AlertsEnded {
  readonly type: 'ended';
  readonly fingerprints: readonly string[];
  /** The last listing of this feed that the home received (`Presence.since`), µs; later listings remain valid. */
  readonly at: Micros;
}

/** The Integration received nothing from this feed for too long (ingestion §6.4, §6.6). */
export interface FeedSilent {
  readonly type: 'silent';
  /** Of this feed. */
  readonly groupKey: string;
  /** Receipt of the feed's last Snapshot as it was found: a newer one settles the matter. */
  readonly heardAt: Micros;
  /** What was listed before this for the last time was silent for too long, µs. */
  readonly cutoff: Micros;
  /** Presences become stale; otherwise only a cut list ends. */
  readonly stale: boolean;
  /** Only presences whose end was reported with an older start are affected, because no Heartbeat is live. */
  readonly onlyOlderEnds?: true;
  /** Time of the check. */
  readonly at: Micros;
}
