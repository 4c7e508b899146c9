/**
 * Compares a Snapshot with the Alerts present in its feed and says what each Alert Group must be told. What it means
 * for an Alert (rows F1 to R5) is decided by its home; what it means for the presence here is decided here
 * (ingestion §5.1, §6.2, §6.3).
 */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertHistory } from '../model.ts';
import type { SnapshotCounts } from './effects.ts';
import { createParts, type GroupPart } from './parts.ts';
import type { Home } from './ports.ts';
import type { Told } from './reports.ts';
import { type FeedRows, type Presence, UNTOLD } from './rows.ts';
import type { Snapshot, SnapshotEntry } from './snapshot.ts';
import { GONE_MIN_ABSENCE, type WindowVerdict } from './window.ts';

export interface Hearing {
  readonly verdict: WindowVerdict;
  /** Receipt of the Snapshot, µs. */
  readonly receivedAt: Micros;
  readonly duplicateWindow: Micros;
  /** Start of the window this Snapshot counts in, µs. */
  readonly windowStart: Micros;
  /** Start of the window before it when it opens one, and of the same otherwise, µs. */
  readonly lastWindowStart: Micros;
  /** Absence may be concluded: neither this Snapshot nor its window is truncated. */
  readonly decidesAbsence: boolean;
  /** Added to entry digests; see {@link Teller.edition}. */
  readonly edition: string;
  tell(entry: SnapshotEntry): Told;
  /** Of Alerts without a presence, and of lost ones. */
  home(fingerprint: string): Home | null;
  /** The group that a homeless firing Alert goes to. */
  target(fingerprint: string): PublicId;
  /** An Alert with a presence here was found to fire nowhere. */
  isLost(fingerprint: string): boolean;
}

export interface Comparison {
  readonly parts: readonly GroupPart[];
  readonly saved: readonly Presence[];
  /** Fingerprints that are no longer present. */
  readonly removed: readonly string[];
  readonly counts: SnapshotCounts;
  /** The Snapshot lists every Alert present now, and nothing that ended or was ignored. */
  readonly complete: boolean;
  /** The same Snapshot a moment later would mean the same. */
  readonly certain: boolean;
}

/** Does not change `rows`. */
export function compare(snapshot: Snapshot, rows: FeedRows, hearing: Hearing): Comparison {
  const parts = createParts();
  const saved = new Map<string, Presence>();
  const removed: string[] = [];
  const counts = { fired: 0, resolved: 0, gone: 0, continued: 0, dropped: 0 };
  const { verdict, receivedAt } = hearing;
  const late = verdict === 'late';
  const mentioned = new Set<string>();
  let listed = 0;
  let added = 0;
  let certain = true;

  for (const entry of snapshot.entries) {
    const presence = rows.get(entry.fingerprint) ?? null;
    if (entry.status === 'resolved') hearResolved(entry, presence);
    else if (!late) hearFiring(entry, presence);
  }
  if (!late && snapshot.status === 'resolved') resolveGroupWide();
  else if (hearing.decidesAbsence) decideAbsence();

  const present = rows.size + added - removed.length;
  const complete = snapshot.resolvedCount === 0 && listed === snapshot.entries.length && listed === present;
  return { parts: parts.list(), saved: [...saved.values()], removed, counts, complete, certain };

  function save(presence: Presence): void {
    saved.set(presence.fingerprint, presence);
  }

  function hearFiring(entry: SnapshotEntry, presence: Presence | null): void {
    const digest = entry.digest + hearing.edition;
    if (presence === null || hearing.isLost(entry.fingerprint)) {
      hearUnknownFiring(entry, digest, presence);
      return;
    }
    mentioned.add(entry.fingerprint);
    listed += 1;
    const { state, groupId } = presence;
    if (presence.digest === digest && state === 'listed') return;
    const since = listedAgain(presence);
    save({ ...presence, state: 'listed', since, listedAt: null, startsAt: entry.startsAt, digest });
    // After a miss, too, the home judges the entry: it may have ended the firing that this feed missed (rows F6 to F8).
    if (entry.startsAt > presence.startsAt) counts.continued += 1;
    parts.of(groupId).firing.push({ ...hearing.tell(entry), history: null, since });
  }

  /**
   * Higher than whatever was told of the Alert, also at the same moment or out of turn: the end of what was told before
   * may be under way to this feed, and must not take along what is told now.
   */
  function listedAgain(presence: Presence): Micros {
    return Math.max(presence.since + 1, receivedAt);
  }

  /** Lost, or new here. An old copy of what ended (row F7) is left alone, so that the next listing is judged anew. */
  function hearUnknownFiring(entry: SnapshotEntry, digest: string, lost: Presence | null): void {
    const { fingerprint, startsAt } = entry;
    const home = hearing.home(fingerprint);
    if (home !== null && isOldCopy(home.history, startsAt, receivedAt, hearing.duplicateWindow)) {
      certain = false;
      mentioned.add(fingerprint);
      if (lost) removed.push(fingerprint);
      return;
    }
    mentioned.add(fingerprint);
    listed += 1;
    if (!lost) added += 1;
    const since = lost ? listedAgain(lost) : receivedAt;
    const groupId = home?.live ? home.groupId : hearing.target(fingerprint);
    if (home?.history.state !== 'firing') counts.fired += 1;
    const history = home !== null && home.groupId !== groupId ? home.history : null;
    parts.of(groupId).firing.push({ ...hearing.tell(entry), history, since });
    save({ fingerprint, groupId, state: 'listed', since, listedAt: null, startsAt, digest });
  }

  function hearResolved(entry: SnapshotEntry, presence: Presence | null): void {
    const { fingerprint, startsAt } = entry;
    const home = presence === null ? hearing.home(fingerprint) : null;
    const groupId = presence?.groupId ?? (home?.history.state === 'firing' ? home.groupId : null);
    if (groupId === null) {
      if (home === null && !late) counts.dropped += 1;
      return;
    }
    parts.of(groupId).resolved.push({ fingerprint, startsAt });
    if (presence !== null && startsAt >= presence.startsAt) withdraw(presence);
    if (late || presence?.digest === UNTOLD) return;
    counts.resolved += 1;
    if (presence === null) return;
    save({ ...presence, digest: UNTOLD });
    // A start older than the one told may be overtaken (rows R3, R4): the Alert then fires on, unlisted.
    if (startsAt >= presence.startsAt) mentioned.add(fingerprint);
  }

  function resolveGroupWide(): void {
    const named = new Set(snapshot.entries.map(({ fingerprint }) => fingerprint));
    for (const presence of rows.values()) {
      if (named.has(presence.fingerprint)) continue;
      parts.of(presence.groupId).groupWideResolved.push(presence.fingerprint);
      withdraw(presence);
      counts.resolved += 1;
      save({ ...presence, digest: UNTOLD });
    }
  }

  /** A Snapshot that is overtaken by a newer one of this feed takes nothing back that the newer one lists. */
  function withdraw({ groupId, fingerprint, since }: Presence): void {
    if (verdict === 'opens' || verdict === 'same') parts.of(groupId).withdrawn.push({ fingerprint, since });
  }

  function decideAbsence(): void {
    for (const presence of rows.values()) {
      const { fingerprint, groupId } = presence;
      if (mentioned.has(fingerprint)) continue;
      const next = afterMiss(presence, hearing);
      if (next === null) continue;
      parts.of(groupId).presences.push({ fingerprint, ...next });
      if (next.state === 'missed') {
        const listedAt = lastListingOf(presence, hearing);
        save({ ...(saved.get(fingerprint) ?? presence), state: 'missed', since: next.since, listedAt });
      } else {
        saved.delete(fingerprint);
        removed.push(fingerprint);
        counts.gone += 1;
      }
    }
  }
}

/** Of an Alert that is missed from now on: it was listed in the window before, whose repeats left no trace. */
function lastListingOf({ since }: Presence, hearing: Hearing): Micros {
  const windowEnd = Math.max(since, hearing.lastWindowStart) + hearing.duplicateWindow;
  return Math.min(windowEnd, hearing.receivedAt);
}

type Absence = { readonly state: 'missed' | 'gone'; readonly since: Micros };

/** What becomes of a presence that the current window has not listed (ingestion §6.3); null when nothing does. */
export function afterMiss(
  presence: Pick<Presence, 'state' | 'since'>,
  hearing: Pick<Hearing, 'verdict' | 'receivedAt' | 'windowStart'>,
): Absence | null {
  const { receivedAt, windowStart } = hearing;
  // Still `listed` inside a window that is under way: its opener, or a Snapshot since, listed the Alert.
  if (presence.state === 'listed') {
    return hearing.verdict === 'opens' ? { state: 'missed', since: windowStart } : null;
  }
  const long = presence.since < windowStart && receivedAt - presence.since >= GONE_MIN_ABSENCE;
  return long ? { state: 'gone', since: receivedAt } : null;
}

/** Row F7: a copy of the firing that its own entry ended moments ago. */
function isOldCopy(history: AlertHistory, startsAt: Micros, receivedAt: Micros, window: Micros): boolean {
  if (history.state === 'firing' || history.resolvedBy !== 'own_entry') return false;
  if (history.endedStart === null || history.resolvedAt === null) return false;
  return startsAt <= history.endedStart && receivedAt < history.resolvedAt + window;
}
