/** What becomes of a feed that its Integration found silent (ingestion §6.4, §6.6). */
import type { Micros } from '../../runtime/clock.ts';
import type { FeedState } from './machine.ts';
import type { FeedSilent } from './messages.ts';
import { createParts, type GroupPart } from './parts.ts';
import type { FeedRows, Presence } from './rows.ts';

/** Whether a Snapshot came since the Integration looked: then nothing it found holds any more. */
export function wasHeardSince({ context }: FeedState, { heardAt }: FeedSilent): boolean {
  return context.windowStart !== null && context.windowStart > heardAt;
}

export interface Silence {
  readonly parts: readonly GroupPart[];
  /** Fingerprints whose presence is stale, and therefore gone from here. */
  readonly stale: readonly string[];
}

/** Does not change `rows`. */
export function silenceOf(state: FeedState, rows: FeedRows, message: FeedSilent): Silence {
  const parts = createParts();
  const stale: string[] = [];
  if (!message.stale) return { parts: [], stale };
  for (const presence of rows.values()) {
    if (lastListedAt(state, presence, message.heardAt) >= message.cutoff) continue;
    const { fingerprint, groupId } = presence;
    parts.of(groupId).presences.push({ fingerprint, state: 'stale', since: message.at });
    stale.push(fingerprint);
  }
  return { parts: parts.list(), stale };
}

/** A cut list proves nothing of what it leaves out: in a truncated feed its last Snapshot counts for all. */
function lastListedAt(state: FeedState, presence: Presence, heardAt: Micros): Micros {
  if (presence.state === 'listed' || state.value === 'truncated') return heardAt;
  return presence.listedAt ?? presence.since;
}
