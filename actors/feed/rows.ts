/** The Alerts present in a feed: the rows its actor owns (ingestion §6.3). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';

/** One Alert that this feed lists or misses. An Alert that is gone here has no presence. Replaced, never mutated. */
export interface Presence {
  readonly fingerprint: string;
  /** The Alert Group that was told last; later parts take the same road, so that they arrive in order. */
  readonly groupId: PublicId;
  readonly state: 'listed' | 'missed';
  /**
   * Receipt of the Snapshot that was told of it last, and in any case later than what was told before; of a miss, the
   * start of that window. µs.
   */
  readonly since: Micros;
  /** Of one that is missed: when it was listed last, at the latest, µs. Null while it is listed, or not known. */
  readonly listedAt: Micros | null;
  /** The start last told, µs. */
  readonly startsAt: Micros;
  /** What was told last; {@link UNTOLD} when the next listing must be told whatever it says. */
  readonly digest: string;
}

export const UNTOLD = '';

/** By fingerprint. */
export type FeedRows = Map<string, Presence>;
