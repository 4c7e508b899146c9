/** The Alerts present in a feed: the rows its actor owns (ingestion §6.3). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';

/** One Alert that this feed lists or misses. An Alert that is gone here has no presence. Replaced, never mutated. */
export interface Presence {
  readonly fingerprint: string;
  /** The Alert Group that was sent to last; later parts take the same road, so that they arrive in order. */
  readonly groupId: PublicId;
  readonly state: 'listed' | 'missed';
  /**
   * Receipt of the Snapshot that was sent about it last, and in any case later than what was sent before; of a miss,
   * the start of that window. µs.
   */
  readonly since: Micros;
  /** Of one that is missed: when it was listed last, at the latest, µs. Null while it is listed, or not known. */
  readonly listedAt: Micros | null;
  /** The newest start that this feed listed, µs; {@link NO_START} once it reported the end. */
  readonly startsAt: Micros;
  /** Digest of the entry sent last; {@link UNSENT}, {@link UNSURE} or {@link olderEndDigest}: send the next listing. */
  readonly digest: string;
}

/** Digest while an end that this feed reported is in flight: every listing is sent until the home confirms the end. */
export const UNSENT = '';

/**
 * Digest while the home may ignore a listing as older than an end that this feed reported before: every listing is sent
 * until a Snapshot that opens a window lists the Alert. That one is newer than every such end by a duplicate window.
 */
export const UNSURE = 'unsure';

export const NO_START: Micros = 0;

/** How each {@link olderEndDigest} begins. */
export const OLDER_END = 'older end ';

/**
 * Digest after a `status: resolved` Snapshot named the Alert with an older start `startsAt`, µs, than the presence's.
 * An earlier reported end may still be in flight, so the presence becomes {@link UNSURE} once it is listed again.
 */
export function olderEndDigest(startsAt: Micros): string {
  return `${OLDER_END}${startsAt}`;
}

/** The older start that {@link olderEndDigest} recorded, µs; null for every other presence. */
export function olderEndOf({ digest }: Presence): Micros | null {
  return digest.startsWith(OLDER_END) ? Number(digest.slice(OLDER_END.length)) : null;
}

/** Whether the digest is that of the entry sent last, so that an equal entry need not be sent again. */
export function isSure({ digest }: Presence): boolean {
  return digest !== UNSENT && digest !== UNSURE && !digest.startsWith(OLDER_END);
}

/** Whether the feed reported the end, has not listed the Alert since, and the home has not confirmed the end yet. */
export function isEnding({ startsAt, digest }: Presence): boolean {
  return digest === UNSENT && startsAt === NO_START;
}

/** Whether the feed lists the Alert again after an end that its home has not confirmed yet. */
export function isListedWhileEnding({ state, startsAt, digest }: Presence): boolean {
  return digest === UNSENT && state === 'listed' && startsAt !== NO_START;
}

/** By fingerprint. */
export type FeedRows = Map<string, Presence>;
