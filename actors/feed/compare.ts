/**
 * Compares a Snapshot with the Alerts present in its feed and decides what each Alert Group is sent. What it means
 * for an Alert (rows F1 to R5) is decided by its home; what it means for the presence here is decided here (ingestion
 * §5.1, §6.2, §6.3).
 */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { AlertHistory } from '../model.ts';
import { createParts, type GroupPart, type MappedAlert } from './alert-mapper.ts';
import type { SnapshotCounts } from './effects.ts';
import { GONE_MIN_ABSENCE, type NamedEnd, type WindowVerdict } from './machine.ts';
import type { Home } from './ports.ts';
import {
  type FeedRows,
  isEnding,
  isListedWhileEnding,
  isSure,
  NO_START,
  olderEndDigest,
  olderEndOf,
  type Presence,
  UNSENT,
  UNSURE,
} from './rows.ts';
import type { Snapshot, SnapshotEntry } from './snapshot.ts';

export interface ComparisonInputs {
  readonly verdict: WindowVerdict;
  /** Receipt of the Snapshot, µs. */
  readonly receivedAt: Micros;
  readonly duplicateWindow: Micros;
  /** Start of the window this Snapshot counts in, µs. */
  readonly windowStart: Micros;
  /** Start of the window before it when it opens one, and of the same otherwise, µs. */
  readonly lastWindowStart: Micros;
  /** Ends that this feed reported before: the newest start by fingerprint, µs. */
  readonly namedEnds: ReadonlyMap<string, Micros>;
  /** Newest starts of Alerts that were present here when they ended elsewhere, µs. */
  readonly endsElsewhere: ReadonlyMap<string, Micros>;
  /** Absence may be concluded: neither this Snapshot nor its window is truncated. */
  readonly decidesAbsence: boolean;
  /** Added to entry digests; see {@link AlertMapper.edition}. */
  readonly edition: string;
  map(entry: SnapshotEntry): MappedAlert;
  /** Of Alerts without a presence, and of lost ones. */
  home(fingerprint: string): Home | null;
  /** The Alert Group for a firing Alert that no group holds yet. */
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
  /** What it names as resolved or calls over without a name, and what is gone. */
  readonly ends: readonly NamedEnd[];
}

/** Does not change `rows`. */
export function compare(snapshot: Snapshot, rows: FeedRows, inputs: ComparisonInputs): Comparison {
  /** Sent ahead of `parts`: firings that are over before this Snapshot lists the next one. */
  const earlier = createParts();
  const parts = createParts();
  const saved = new Map<string, Presence>();
  const removed: string[] = [];
  const counts = { fired: 0, resolved: 0, gone: 0, continued: 0, dropped: 0 };
  const { verdict, receivedAt } = inputs;
  const late = verdict === 'late';
  const withdraws = verdict === 'opens' || verdict === 'same';
  const mentioned = new Set<string>();
  const ends = endsIn(snapshot);
  let listed = 0;
  let added = 0;
  // The effect of a resolved entry depends on what other feeds have listed since.
  let certain = snapshot.resolvedCount === 0;

  for (const entry of snapshot.entries) {
    const presence = rows.get(entry.fingerprint) ?? null;
    if (entry.status === 'resolved') handleResolved(entry, presence);
    else if (!late) handleFiring(entry, presence);
  }
  if (!late && endsUnnamed(snapshot, rows, inputs)) resolveGroupWide();
  if (inputs.decidesAbsence) decideAbsence();

  const present = rows.size + added - removed.length;
  const complete = snapshot.resolvedCount === 0 && listed === snapshot.entries.length && listed === present;
  return {
    parts: [...earlier.list(), ...parts.list()],
    saved: [...saved.values()],
    removed,
    counts,
    complete,
    certain,
    ends,
  };

  function save(presence: Presence): void {
    saved.set(presence.fingerprint, presence);
  }

  function handleFiring(entry: SnapshotEntry, presence: Presence | null): void {
    const digest = entry.digest + inputs.edition;
    if (presence === null || inputs.isLost(entry.fingerprint)) {
      handleUnknownFiring(entry, digest, presence);
      return;
    }
    mentioned.add(entry.fingerprint);
    listed += 1;
    const { state, groupId } = presence;
    if (presence.digest === digest && state === 'listed') return;
    const since = listedAgain(presence);
    // A copy of an earlier start, received late from another sender, does not take the presence back to that start.
    const startsAt = Math.max(presence.startsAt, entry.startsAt);
    save({
      ...presence,
      ...{ state: 'listed', since, listedAt: null },
      ...{ startsAt, digest: digestAfter(presence, digest) },
    });
    // After a miss, too, the home judges the entry: it may have ended the firing that this feed missed (rows F6 to F8).
    if (presence.startsAt !== NO_START && entry.startsAt > presence.startsAt && !endBefore(entry, presence)) {
      counts.continued += 1;
    }
    parts.of(groupId).firing.push({ ...inputs.map(entry), history: null, since });
  }

  /**
   * Ends the firing whose end was reported with an older start, before its next start is listed.
   * @returns whether it ended one
   */
  function endBefore({ fingerprint, startsAt }: SnapshotEntry, presence: Presence): boolean {
    const olderEnd = withdraws && isOverBefore(presence, inputs) ? olderEndOf(presence) : null;
    if (olderEnd === null || startsAt <= presence.startsAt) return false;
    const before = { olderEnd, nextStart: startsAt };
    earlier.of(presence.groupId).presences.push({ fingerprint, state: 'gone', since: receivedAt, before });
    counts.gone += 1;
    counts.fired += 1;
    return true;
  }

  /**
   * An end that this feed reported may be in flight or newer than this listing, so the next listing is sent as well.
   */
  function digestAfter(presence: Presence | null, digest: string): string {
    const isSettled = verdict === 'opens' && (presence === null || presence.digest === UNSURE);
    if (isSettled || (presence !== null && isSure(presence))) return digest;
    certain = false;
    return presence?.digest === UNSENT ? UNSENT : UNSURE;
  }

  /**
   * Higher than any position sent about the Alert before, also at the same instant or out of order: the end of an
   * earlier listing may be in flight to this feed and must not end the present listing.
   */
  function listedAgain(presence: Presence): Micros {
    return Math.max(presence.since + 1, receivedAt);
  }

  /** Lost, or new here. An old copy of what ended is left alone, so that the next listing is judged anew. */
  function handleUnknownFiring(entry: SnapshotEntry, digest: string, lost: Presence | null): void {
    const { fingerprint, startsAt } = entry;
    const home = inputs.home(fingerprint);
    const isOver = (start: Micros) =>
      home !== null && isOldCopy(home.history, start, receivedAt, inputs.duplicateWindow);
    if (isOver(startsAt)) {
      certain = false;
      mentioned.add(fingerprint);
      // A presence with a newer start than what ended is of a firing that is not stored yet.
      if (lost && isOver(lost.startsAt)) removed.push(fingerprint);
      return;
    }
    mentioned.add(fingerprint);
    listed += 1;
    if (!lost) added += 1;
    const since = lost ? listedAgain(lost) : receivedAt;
    const groupId = home?.live ? home.groupId : inputs.target(fingerprint);
    // A presence without a home may be a moment old: its home may not be committed yet.
    const isEnded = lost !== null && endBefore(entry, lost);
    if (home?.history.state !== 'firing' && !isEnded) counts.fired += 1;
    const history = home !== null && home.groupId !== groupId ? home.history : null;
    parts.of(groupId).firing.push({ ...inputs.map(entry), history, since });
    // For the same reason the presence keeps its start.
    const start = Math.max(startsAt, lost?.startsAt ?? startsAt);
    const told = digestAfter(null, digest);
    save({ fingerprint, groupId, state: 'listed', since, listedAt: null, startsAt: start, digest: told });
  }

  function handleResolved(entry: SnapshotEntry, presence: Presence | null): void {
    const { fingerprint, startsAt } = entry;
    const home = presence === null ? inputs.home(fingerprint) : null;
    const groupId = presence?.groupId ?? (home?.history.state === 'firing' ? home.groupId : null);
    if (groupId === null) {
      if (home === null && !late) counts.dropped += 1;
      return;
    }
    // A newer Snapshot of this feed listed it. Its repeats are not stored, so the home may not know of them.
    if (late && presence !== null && isListedSince(presence, inputs)) return;
    // The end of an earlier start is ignored (rows R3, R4): the Alert still fires, and is not listed here.
    if (presence !== null && startsAt < presence.startsAt) {
      const isOlderEnd = withdraws && snapshot.status === 'resolved';
      parts.of(groupId).resolved.push({ fingerprint, startsAt, ...(isOlderEnd ? { isOlderEnd } : {}) });
      if (isOlderEnd) save({ ...presence, digest: olderEndDigest(startsAt) });
      return;
    }
    parts.of(groupId).resolved.push({ fingerprint, startsAt });
    if (presence !== null) {
      withdraw(presence);
      mentioned.add(fingerprint);
    }
    if (late && presence !== null) save(takenBack(presence));
    if (late || (presence?.digest === UNSENT && !isListedWhileEnding(presence))) return;
    counts.resolved += 1;
    if (presence !== null) save(takenBack(presence));
  }

  function resolveGroupWide(): void {
    const named = new Set(snapshot.entries.map(({ fingerprint }) => fingerprint));
    for (const presence of rows.values()) {
      if (named.has(presence.fingerprint)) continue;
      parts.of(presence.groupId).groupWideResolved.push(presence.fingerprint);
      withdraw(presence);
      if (withdraws) rememberEnd(presence);
      counts.resolved += 1;
      save(takenBack(presence));
      mentioned.add(presence.fingerprint);
    }
  }

  /** A Snapshot that is older than another one of this feed withdraws nothing that the newer one lists. */
  function withdraw({ groupId, fingerprint, since }: Presence): void {
    if (withdraws) parts.of(groupId).withdrawn.push({ fingerprint, since });
  }

  /**
   * The presence until its end is confirmed here. If the Alert is listed again first, the presence counts from that
   * listing. The home may have ignored an out-of-order end as too old; then no confirmation arrives.
   */
  function takenBack(presence: Presence): Presence {
    if (withdraws) return { ...presence, digest: UNSENT, startsAt: NO_START };
    return presence.digest === UNSENT ? presence : { ...presence, digest: UNSURE };
  }

  function decideAbsence(): void {
    for (const presence of rows.values()) {
      const { fingerprint, groupId } = presence;
      if (mentioned.has(fingerprint)) continue;
      const next = afterMiss(presence, inputs);
      if (next === null) continue;
      parts.of(groupId).presences.push({ fingerprint, ...next });
      if (next.state === 'missed') {
        const listedAt = lastListingOf(presence, inputs);
        save({ ...(saved.get(fingerprint) ?? presence), state: 'missed', since: next.since, listedAt });
      } else {
        saved.delete(fingerprint);
        removed.push(fingerprint);
        rememberEnd(presence);
        counts.gone += 1;
      }
    }
  }

  function rememberEnd(presence: Presence): void {
    if (!isEnding(presence)) ends.push([presence.fingerprint, presence.startsAt]);
  }
}

/**
 * Whether a Snapshot also ends Alerts that it does not name. A final notification does when it ends an Alert that is
 * present here, or was present until it ended elsewhere, and whose start was not reported as ended before; or when it
 * names no Alert. Any other may be a repeat from before the omitted Alerts began (ingestion §6.2).
 */
function endsUnnamed(
  { status, entries }: Snapshot,
  rows: FeedRows,
  { namedEnds, endsElsewhere }: Pick<ComparisonInputs, 'namedEnds' | 'endsElsewhere'>,
): boolean {
  if (status !== 'resolved') return false;
  return entries.length === 0 || entries.some(isNewEnd);

  function isNewEnd({ status: state, fingerprint, startsAt }: SnapshotEntry): boolean {
    const start = listedStart(fingerprint);
    if (state !== 'resolved' || start === null) return false;
    return startsAt >= start && start > (namedEnds.get(fingerprint) ?? Number.NEGATIVE_INFINITY);
  }

  function listedStart(fingerprint: string): Micros | null {
    const presence = rows.get(fingerprint);
    if (presence === undefined) return endsElsewhere.get(fingerprint) ?? null;
    return isEnding(presence) ? null : presence.startsAt;
  }
}

function endsIn({ entries }: Snapshot): NamedEnd[] {
  const resolved = entries.filter(({ status }) => status === 'resolved');
  return resolved.map(({ fingerprint, startsAt }) => [fingerprint, startsAt]);
}

/**
 * Last listing of an Alert that is missed from now on: the previous window listed it, and its repeats are not stored.
 */
function lastListingOf({ since }: Presence, inputs: ComparisonInputs): Micros {
  const windowEnd = Math.max(since, inputs.lastWindowStart) + inputs.duplicateWindow;
  return Math.min(windowEnd, inputs.receivedAt);
}

/** Whether a Snapshot that opened a window when this one was received, or later, listed the Alert (ingestion §6.2). */
function isListedSince({ state, listedAt }: Presence, inputs: ComparisonInputs): boolean {
  return state === 'listed' || (listedAt !== null && inputs.receivedAt <= listedAt - inputs.duplicateWindow);
}

type Absence = { readonly state: 'missed' | 'gone'; readonly since: Micros };

/** The next state of a presence that the current window has not listed (ingestion §6.3); null when it is unchanged. */
export function afterMiss(
  presence: Pick<Presence, 'state' | 'since'>,
  inputs: Pick<ComparisonInputs, 'verdict' | 'receivedAt' | 'windowStart'>,
): Absence | null {
  const { receivedAt, windowStart } = inputs;
  // Still `listed` in an open window: its first Snapshot, or one since, listed the Alert.
  if (presence.state === 'listed') {
    return inputs.verdict === 'opens' ? { state: 'missed', since: windowStart } : null;
  }
  const long = presence.since < windowStart && receivedAt - presence.since >= GONE_MIN_ABSENCE;
  return long ? { state: 'gone', since: receivedAt } : null;
}

/**
 * Whether an Alert whose end was reported with an older start has been absent for long enough since (ingestion §6.2).
 */
function isOverBefore(presence: Presence, inputs: ComparisonInputs): boolean {
  const since = presence.state === 'missed' ? presence.since : inputs.lastWindowStart;
  return since < inputs.windowStart && inputs.receivedAt - since >= GONE_MIN_ABSENCE;
}

/** Rows F7 and F8: a copy of the firing that ended, received before its end or moments after its own entry ended it. */
function isOldCopy(history: AlertHistory, startsAt: Micros, receivedAt: Micros, window: Micros): boolean {
  const { state, resolvedBy, endedStart, resolvedAt } = history;
  if (state === 'firing' || endedStart === null || resolvedAt === null) return false;
  if (startsAt > endedStart) return false;
  return receivedAt <= resolvedAt || (resolvedBy === 'own_entry' && receivedAt < resolvedAt + window);
}
