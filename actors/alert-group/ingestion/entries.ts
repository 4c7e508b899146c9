/** What the entries of a part mean for the Alerts that live here: firings and endings (ingestion §5.1, §6.2, §6.3). */
import type { Micros } from '../../../runtime/clock.ts';
import { GONE_MIN_ABSENCE } from '../../feed/machine.ts';
import { type AlertHistory, alertKey } from '../../model.ts';
import type { FiringEntry, PresenceChange, SnapshotPart } from '../messages.ts';
import type { Outside } from '../ports.ts';
import {
  type GroupAlert,
  historyOf,
  isAbsentEverywhere,
  isOver,
  keyOf,
  listingFeeds,
  sameLabels,
  withPresence,
} from '../rows.ts';
import { isMoved, isOpen } from '../state.ts';
import type { GroupTurn } from '../turn.ts';
import { BY_ALERT, type Ending } from './firings.ts';
import { type Judged, judgeFiring, judgeResolved } from './judge.ts';
import type { PassedOn } from './placing.ts';
import { lastListedAt } from './turn-inputs.ts';

export interface NewFiring {
  readonly entry: FiringEntry;
  readonly endedStart: number | null;
  /** It resolved before in this group, which is still open: it fires there again. */
  readonly atHome: boolean;
  /** What the next group should know of the last firing. */
  readonly history: AlertHistory | null;
}

/** Applies entries about firings that are known here and answers the new ones. */
export function hearFirings(
  turn: GroupTurn,
  part: SnapshotPart,
  passed: PassedOn,
  outside: Outside,
): NewFiring[] {
  const heard = { annotated: [] as string[], continued: [] as string[], shown: false };
  const news: NewFiring[] = [];
  for (const entry of part.firing) {
    const key = alertKey(part.integrationId, entry.report.fingerprint);
    const known = turn.rows.get(key);
    const home = outside.homes.get(key);
    if (known?.state === 'firing') hearKnown(turn, part, entry, known, heard);
    else if (home && home !== turn.groupId) passed.entryTo(home, entry);
    else news.push(...newFiring(turn, part, entry, known, passed));
  }
  if (heard.shown) turn.portray();
  const { annotated, continued } = heard;
  if (annotated.length > 0) {
    turn.step({ type: 'annotate', at: turn.now, alerts: annotated }, BY_ALERT, { fingerprints: annotated });
  }
  if (continued.length > 0) {
    turn.step({ type: 'continue', at: turn.now, alerts: continued }, BY_ALERT, { fingerprints: continued });
  }
  return news;
}

function hearKnown(
  turn: GroupTurn,
  part: SnapshotPart,
  entry: FiringEntry,
  known: GroupAlert,
  heard: { annotated: string[]; continued: string[]; shown: boolean },
): void {
  const { report } = entry;
  const verdict = judgeFiring(judgedAs(known), report.startsAt, part);
  const { receivedAt, groupKey } = part;
  const before = known.feeds[part.feed];
  const wasListed = before?.state === 'listed';
  const toldSince = listedSince(entry, part);
  const since = wasListed ? Math.max(before.since, toldSince) : toldSince;
  const listed = withPresence(known, part.feed, { state: 'listed', since, groupKey });
  if (verdict.is === 'listed') {
    if (since !== before?.since || !wasListed) turn.saveAlert(listed);
    return;
  }
  const isOvertaken = receivedAt < known.lastSeenAt;
  const next = isOvertaken ? startedAgain(listed, report.startsAt) : refreshed(listed, report, receivedAt);
  const { annotations, labels, generatorUrl } = known.report;
  const told = next.report;
  const relabelled = !sameLabels(labels, told.labels);
  const annotated = !sameLabels(annotations, told.annotations) || (relabelled && part.isInternal === true);
  const shown = annotated || relabelled || generatorUrl !== told.generatorUrl;
  if (annotated) heard.annotated.push(report.fingerprint);
  heard.shown ||= shown;
  if (verdict.is === 'continued') {
    heard.continued.push(report.fingerprint);
    turn.saveAlert(next);
    return;
  }
  if (shown || since !== before?.since || !wasListed || next.startsAt !== known.startsAt)
    turn.saveAlert(next);
  else turn.seeAlert(next);
}

/**
 * The same firing with its newest texts. The Severity stays as recorded (routes §5 rule 4), and an older start never
 * replaces the start (row F4).
 */
function refreshed(alert: GroupAlert, report: GroupAlert['report'], receivedAt: number): GroupAlert {
  const { severityLevel, severityRaw } = alert.report;
  const refreshed = { ...alert, report: { ...report, severityLevel, severityRaw }, lastSeenAt: receivedAt };
  return startedAgain(refreshed, Math.max(alert.startsAt, report.startsAt));
}

function startedAgain(alert: GroupAlert, startsAt: Micros): GroupAlert {
  return { ...alert, report: { ...alert.report, startsAt }, startsAt };
}

function newFiring(
  turn: GroupTurn,
  part: SnapshotPart,
  entry: FiringEntry,
  known: GroupAlert | undefined,
  passed: PassedOn,
): NewFiring[] {
  const { state } = turn;
  const atHome = known !== undefined && state.stage === 'started' && isOpen(state) && !isMoved(state);
  const history = known ? newest(historyOf(known), entry.history) : entry.history;
  const verdict = judgeFiring(history && asJudged(history), entry.report.startsAt, part);
  if (verdict.is === 'new') return [{ entry, endedStart: verdict.endedStart, atHome, history }];
  // A firing that was moved continues in the other group, with its presences.
  if (known?.movedTo && known.resolvedBy === 'moved') passed.entryTo(known.movedTo, entry);
  else turn.tellEnded(part.feed, entry.report.fingerprint, listedSince(entry, part));
  return [];
}

/** The feed's position of the listing, so that an end covers exactly the listings received before it. */
export function listedSince({ since }: FiringEntry, { receivedAt }: SnapshotPart): Micros {
  return since ?? receivedAt;
}

/** The history that ended last. A history in state "firing" is outdated: the home decides where the Alert fires. */
function newest(here: AlertHistory, elsewhere: AlertHistory | null): AlertHistory {
  const later = (elsewhere?.resolvedAt ?? 0) > (here.resolvedAt ?? 0);
  return elsewhere && later ? elsewhere : here;
}

function asJudged(history: AlertHistory): Judged | null {
  if (history.state === 'firing') return null;
  return { ...history, lastSeenAt: 0 };
}

function judgedAs(alert: GroupAlert): Judged {
  return { ...historyOf(alert), lastSeenAt: alert.lastSeenAt };
}

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
    if (verdict.row === 'R4' && alert && entry.isOlderEnd) noteOlderEnd(turn, part, alert, entry.startsAt);
  }
  if (dropped > 0) {
    turn.perform({ type: 'alerts.resolve_dropped', integrationId: part.integrationId, count: dropped });
  }
}

/** Until the feed lists the Alert again (ingestion §6.2). */
function noteOlderEnd(
  turn: GroupTurn,
  { feed, receivedAt }: SnapshotPart,
  alert: GroupAlert,
  startsAt: Micros,
): void {
  const here = alert.feeds[feed];
  if (!here || isOver(here)) return;
  turn.saveAlert(withPresence(alert, feed, { ...here, olderEnd: { startsAt, at: receivedAt } }));
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
  // What a feed counts a listing by may be a moment after its receipt.
  const heardLater = (key: string) => (outside.heardAt.get(key) ?? alert.feeds[key]?.since ?? 0) > receivedAt;
  return !listingFeeds(alert).some((key) => key !== feed && heardLater(key));
}

/**
 * A feed that resolved what it listed no longer supports the firing, even when another feed has listed the Alert since
 * and keeps it firing: the first feed may never send again.
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
    if (endings.has(key)) {
      // The same: its resolve ends a firing with an older start than the one that the feed lists.
      if (change.state === 'missed') turn.tellEnded(part.feed, change.fingerprint, change.since);
      continue;
    }
    if (isKnown(alert, part.feed, change)) continue;
    if (change.before && !endsBefore(alert, change.before)) continue;
    const here = alert.feeds[part.feed];
    // Forwarded by a former home, it may arrive after a newer listing of the same feed.
    if (here && change.since < here.since) continue;
    // The feed counts a miss of a withdrawn Alert until it receives the confirmation of the withdrawal.
    if (here && isOver(here) && change.state === 'missed') {
      turn.tellEnded(part.feed, change.fingerprint, change.since);
    } else changePresence(turn, part, alert, change, end);
  }
}

/** Whether the older start that was named is of this firing, and the next start not known to it (ingestion §6.2). */
function endsBefore(
  { startsAt, endedStart }: GroupAlert,
  { olderEnd, nextStart }: NonNullable<PresenceChange['before']>,
): boolean {
  return nextStart > startsAt && (endedStart === null || endedStart < olderEnd);
}

/**
 * Whether no other feed supports the firing any more when one of them lists the next start: every other feed reported
 * its end with an older start of this firing, long enough ago, and has not listed it since (ingestion §6.2).
 */
function isOverBefore({ feeds, endedStart }: GroupAlert, at: Micros): boolean {
  return Object.values(feeds).every((presence) => {
    if (isOver(presence)) return true;
    const { olderEnd } = presence;
    if (!olderEnd || (endedStart !== null && olderEnd.startsAt <= endedStart)) return false;
    return at - olderEnd.at >= GONE_MIN_ABSENCE;
  });
}

function changePresence(
  turn: GroupTurn,
  { feed, groupKey, receivedAt }: SnapshotPart,
  alert: GroupAlert,
  { state, since, before }: PresenceChange,
  end: End,
): void {
  const olderEnd = state === 'missed' ? alert.feeds[feed]?.olderEnd : undefined;
  const next = withPresence(alert, feed, { state, since, groupKey, ...(olderEnd && { olderEnd }) });
  turn.saveAlert(next);
  const isEnded = before ? isOverBefore(next, receivedAt) : isAbsentEverywhere(next);
  if (!isEnded) return;
  end(keyOf(next), { alert: next, resolver: state === 'stale' ? 'stale' : 'gone', startsAt: null });
}

function isKnown(alert: GroupAlert, feed: string, { state, since }: PresenceChange): boolean {
  const here = alert.feeds[feed];
  return here?.state === state && here.since === since;
}
