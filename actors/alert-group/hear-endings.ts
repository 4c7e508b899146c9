/** What of a part ends firings: resolved entries, a group-wide resolve, absence (ingestion §6.2, §6.3, §5.1 rule 3). */
import { alertKey } from '../model.ts';
import { judgedAs } from './hear-firings.ts';
import { judgeResolved } from './judge.ts';
import type { PresenceChange, SnapshotPart } from './messages.ts';
import { lastListedAt, type Outside } from './outside.ts';
import type { PassedOn } from './pass-on.ts';
import type { Ending } from './resolve-alerts.ts';
import { type GroupAlert, isAbsentEverywhere, isOver, keyOf, listingFeeds, withPresence } from './rows.ts';
import type { GroupTurn } from './turn.ts';

/** The firings that end, in the order of application. */
export function hearEndings(
  turn: GroupTurn,
  part: SnapshotPart,
  passed: PassedOn,
  outside: Outside,
): Ending[] {
  const endings = new Map<string, Ending>();
  const end = (key: string, ending: Ending) => endings.set(key, ending);
  hearResolved(turn, part, passed, outside, end);
  if (!part.late) {
    hearGroupWide(turn, part, passed, outside, endings, end);
    hearWithdrawn(turn, part, passed, endings, end);
    hearPresences(turn, part, passed, endings, end);
  }
  return [...endings.values()];
}

type End = (key: string, ending: Ending) => void;

function hearResolved(
  turn: GroupTurn,
  part: SnapshotPart,
  passed: PassedOn,
  outside: Outside,
  end: End,
): void {
  let dropped = 0;
  for (const entry of part.resolved) {
    const key = alertKey(part.integrationId, entry.fingerprint);
    const alert = turn.rows.get(key);
    if (alert?.state !== 'firing' && passed.resolved(entry, alert)) continue;
    const judged = alert ? { ...judgedAs(alert), lastSeenAt: lastListedAt(alert, outside) } : null;
    const verdict = judgeResolved(judged, entry.startsAt, part);
    if (verdict.is === 'dropped') dropped++;
    if (verdict.is === 'resolved' && alert) {
      end(key, { alert, resolver: 'own_entry', startsAt: verdict.endedStart });
    }
  }
  if (dropped > 0) {
    turn.perform({ type: 'alerts.resolve_dropped', integrationId: part.integrationId, count: dropped });
  }
}

function hearGroupWide(
  turn: GroupTurn,
  part: SnapshotPart,
  passed: PassedOn,
  outside: Outside,
  endings: ReadonlyMap<string, Ending>,
  end: End,
): void {
  for (const fingerprint of part.groupWideResolved) {
    const key = alertKey(part.integrationId, fingerprint);
    const alert = turn.rows.get(key);
    if (alert?.state !== 'firing') passed.groupWide(fingerprint, alert);
    else if (!endings.has(key) && endsGroupWide(alert, part, outside)) {
      end(key, { alert, resolver: 'group_wide', startsAt: null });
    }
  }
}

/** This feed listed or missed it, and no other one listed it after this Snapshot. */
function endsGroupWide(alert: GroupAlert, { feed, receivedAt }: SnapshotPart, outside: Outside): boolean {
  const here = alert.feeds[feed]?.state;
  if (here !== 'listed' && here !== 'missed') return false;
  const listedElsewhere = listingFeeds(alert).some((key) => key !== feed);
  return !(listedElsewhere && lastListedAt(alert, outside) > receivedAt);
}

/**
 * A feed that resolved what it listed stands for the firing no longer, also where another feed listed the Alert since
 * and keeps it firing: it may stay silent for ever.
 */
function hearWithdrawn(
  turn: GroupTurn,
  part: SnapshotPart,
  passed: PassedOn,
  endings: ReadonlyMap<string, Ending>,
  end: End,
): void {
  for (const withdrawal of part.withdrawn ?? []) {
    const { fingerprint, since } = withdrawal;
    const key = alertKey(part.integrationId, fingerprint);
    const alert = turn.rows.get(key);
    if (alert?.state !== 'firing') {
      passed.withdrawal(withdrawal, alert);
      continue;
    }
    const here = alert.feeds[part.feed];
    if (endings.has(key) || !here || isOver(here) || here.since > since) continue;
    turn.tellEnded(part.feed, fingerprint, since);
    changePresence(turn, part, alert, { fingerprint, state: 'gone', since: part.receivedAt }, end);
  }
}

function hearPresences(
  turn: GroupTurn,
  part: SnapshotPart,
  passed: PassedOn,
  endings: ReadonlyMap<string, Ending>,
  end: End,
): void {
  for (const change of part.presences) {
    const key = alertKey(part.integrationId, change.fingerprint);
    const alert = turn.rows.get(key);
    if (alert?.state !== 'firing') {
      const passedOn = passed.presence(change, alert);
      // The feed counts a miss of a firing that ended: what ended it named an earlier listing.
      const counts = change.state === 'missed';
      if (alert && !passedOn && counts) turn.tellEnded(part.feed, change.fingerprint, change.since);
      continue;
    }
    if (endings.has(key) || isKnown(alert, part.feed, change)) continue;
    const here = alert.feeds[part.feed];
    // The feed counts a miss of what it withdrew before it heard that this is settled.
    if (here && isOver(here) && change.state === 'missed') {
      turn.tellEnded(part.feed, change.fingerprint, change.since);
    } else changePresence(turn, part, alert, change, end);
  }
}

function changePresence(
  turn: GroupTurn,
  { feed, groupKey }: SnapshotPart,
  alert: GroupAlert,
  { state, since }: PresenceChange,
  end: End,
): void {
  const next = withPresence(alert, feed, { state, since, groupKey });
  turn.saveAlert(next);
  if (!isAbsentEverywhere(next)) return;
  end(keyOf(next), { alert: next, resolver: state === 'stale' ? 'stale' : 'gone', startsAt: null });
}

function isKnown(alert: GroupAlert, feed: string, { state, since }: PresenceChange): boolean {
  const here = alert.feeds[feed];
  return here?.state === state && here.since === since;
}
