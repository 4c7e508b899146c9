/**
 * What a Snapshot of the built-in Integration means: a condition of Tocsin itself began, changed its words, or ended
 * (internal-alerts §2.1.6). Nothing is ever concluded from what one leaves out, nothing waits for a window, and what
 * was told before is told to nobody again, however often it is replayed.
 */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Comparison } from './compare.ts';
import type { InternalAlertReported } from './effects.ts';
import { createParts } from './parts.ts';
import type { Home } from './ports.ts';
import type { Told } from './reports.ts';
import { type FeedRows, type Presence, UNTOLD } from './rows.ts';
import type { Snapshot, SnapshotEntry } from './snapshot.ts';

export interface InternalHearing {
  /** Receipt of the Snapshot, µs. */
  readonly receivedAt: Micros;
  /** It was processed before: nothing of it is told again. */
  readonly replayed: boolean;
  tell(entry: SnapshotEntry): Told;
  /** Of Alerts without a presence. */
  home(fingerprint: string): Home | null;
  /** The group that a homeless firing Alert goes to. */
  target(fingerprint: string): PublicId;
}

export interface InternalComparison extends Comparison {
  readonly reported: readonly InternalAlertReported[];
}

/** Does not change `rows`. */
export function compareInternal(
  snapshot: Snapshot,
  rows: FeedRows,
  hearing: InternalHearing,
): InternalComparison {
  const parts = createParts();
  const saved: Presence[] = [];
  const reported: InternalAlertReported[] = [];
  const counts = { fired: 0, resolved: 0, gone: 0, continued: 0, dropped: 0 };
  const { receivedAt, replayed } = hearing;

  for (const entry of replayed ? [] : snapshot.entries) {
    const presence = rows.get(entry.fingerprint) ?? null;
    if (entry.status === 'resolved') hearResolve(entry, presence);
    else if (presence === null) hearUnknownRaise(entry);
    else hearRaise(entry, presence);
  }
  return { parts: parts.list(), saved, removed: [], counts, complete: false, certain: false, reported };

  function hearRaise(entry: SnapshotEntry, presence: Presence): void {
    const { groupId, startsAt } = presence;
    if (presence.digest === UNTOLD) {
      if (entry.startsAt > startsAt) begin(entry, groupId, null);
      return;
    }
    if (receivedAt < presence.since || entry.digest === presence.digest) return;
    goOn(entry, groupId, startsAt);
  }

  /** Other words for the same firing, whatever start they come with. */
  function goOn(entry: SnapshotEntry, groupId: PublicId, startsAt: Micros): void {
    listen(entry, groupId, startsAt);
    parts
      .of(groupId)
      .firing.push({ ...hearing.tell({ ...entry, startsAt }), history: null, since: receivedAt });
  }

  function hearUnknownRaise(entry: SnapshotEntry): void {
    const { fingerprint } = entry;
    const home = hearing.home(fingerprint);
    if (home && home.history.state !== 'firing' && entry.startsAt <= home.history.startsAt) return;
    if (home?.history.state === 'firing') {
      goOn(entry, home.groupId, home.history.startsAt);
      return;
    }
    const groupId = home?.live ? home.groupId : hearing.target(fingerprint);
    begin(entry, groupId, home && home.groupId !== groupId ? home : null);
  }

  function begin(entry: SnapshotEntry, groupId: PublicId, lastHome: Home | null): void {
    listen(entry, groupId, entry.startsAt);
    const history = lastHome?.history ?? null;
    parts.of(groupId).firing.push({ ...hearing.tell(entry), history, since: receivedAt });
    counts.fired += 1;
    reported.push(reportOf('raised', entry));
  }

  function listen({ fingerprint, digest }: SnapshotEntry, groupId: PublicId, startsAt: Micros): void {
    saved.push({
      fingerprint,
      groupId,
      state: 'listed',
      since: receivedAt,
      listedAt: null,
      startsAt,
      digest,
    });
  }

  function hearResolve(entry: SnapshotEntry, presence: Presence | null): void {
    const { fingerprint } = entry;
    const home = presence === null ? hearing.home(fingerprint) : null;
    const isFiring = presence ? presence.digest !== UNTOLD : home?.history.state === 'firing';
    const firing = presence ?? (home && { groupId: home.groupId, startsAt: home.history.startsAt });
    if (!isFiring || firing === null || firing.startsAt > entry.startsAt) return;
    parts.of(firing.groupId).resolved.push({ fingerprint, startsAt: firing.startsAt });
    counts.resolved += 1;
    reported.push(reportOf('resolved', entry));
    if (presence) saved.push({ ...presence, digest: UNTOLD });
  }
}

function reportOf(
  change: InternalAlertReported['change'],
  { labels, fingerprint }: SnapshotEntry,
): InternalAlertReported {
  const { alertname = '', integration, destination, route } = labels;
  const entityId = integration ?? destination ?? route ?? null;
  return { type: 'internal_alert.reported', change, alertname, fingerprint, entityId };
}
