/** Firing entries of a part: the ones about Alerts that live here, and the new firings among them (rows F1 to F8). */
import type { Micros } from '../../runtime/clock.ts';
import { type AlertHistory, alertKey } from '../model.ts';
import { BY_ALERT } from './fire.ts';
import { type Judged, judgeFiring } from './judge.ts';
import type { FiringEntry, SnapshotPart } from './messages.ts';
import type { Outside } from './outside.ts';
import type { PassedOn } from './pass-on.ts';
import { type GroupAlert, historyOf, sameLabels, withPresence } from './rows.ts';
import { isMoved, isOpen } from './state.ts';
import type { GroupTurn } from './turn.ts';

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
    else news.push(...newFiring(turn, part, entry, known));
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
  const told = listedSince(entry, part);
  const since = wasListed ? Math.max(before.since, told) : told;
  const listed = withPresence(known, part.feed, { state: 'listed', since, groupKey });
  if (verdict.is === 'listed') {
    if (since !== before?.since || !wasListed) turn.saveAlert(listed);
    return;
  }
  const next = refreshed(listed, report, receivedAt);
  const { annotations, labels, generatorUrl } = known.report;
  const relabelled = !sameLabels(labels, report.labels);
  const annotated = !sameLabels(annotations, report.annotations) || (relabelled && part.isInternal === true);
  const shown = annotated || relabelled || generatorUrl !== report.generatorUrl;
  if (annotated) heard.annotated.push(report.fingerprint);
  heard.shown ||= shown;
  if (verdict.is === 'continued') {
    heard.continued.push(report.fingerprint);
    turn.saveAlert({ ...next, continuedAt: receivedAt });
    return;
  }
  if (shown || since !== before?.since || !wasListed || next.startsAt !== known.startsAt)
    turn.saveAlert(next);
  else turn.seeAlert(next);
}

/** Same firing, newest words: all but the Severity, which stays as it was recorded (routes §5 rule 4). */
function refreshed(alert: GroupAlert, report: GroupAlert['report'], receivedAt: number): GroupAlert {
  const { severityLevel, severityRaw } = alert.report;
  return {
    ...alert,
    report: { ...report, severityLevel, severityRaw },
    startsAt: report.startsAt,
    lastSeenAt: receivedAt,
  };
}

function newFiring(
  turn: GroupTurn,
  part: SnapshotPart,
  entry: FiringEntry,
  known: GroupAlert | undefined,
): NewFiring[] {
  const { state } = turn;
  const atHome = known !== undefined && state.stage === 'started' && isOpen(state) && !isMoved(state);
  const history = known ? newest(historyOf(known), entry.history) : entry.history;
  const verdict = judgeFiring(history && asJudged(history), entry.report.startsAt, part);
  if (verdict.is === 'new') return [{ entry, endedStart: verdict.endedStart, atHome, history }];
  turn.tellEnded(part.feed, entry.report.fingerprint, listedSince(entry, part));
  return [];
}

/** As the feed counts the listing, so that an ending names every listing that was heard before it, and no other. */
export function listedSince({ since }: FiringEntry, { receivedAt }: SnapshotPart): Micros {
  return since ?? receivedAt;
}

/** The history that ended last. One that says "firing" is a moment old: the Alert fires where its home says. */
function newest(here: AlertHistory, elsewhere: AlertHistory | null): AlertHistory {
  const later = (elsewhere?.resolvedAt ?? 0) > (here.resolvedAt ?? 0);
  return elsewhere && later ? elsewhere : here;
}

function asJudged(history: AlertHistory): Judged | null {
  if (history.state === 'firing') return null;
  return { ...history, continuedAt: null, lastSeenAt: 0 };
}

export function judgedAs(alert: GroupAlert): Judged {
  return { ...historyOf(alert), continuedAt: alert.continuedAt, lastSeenAt: alert.lastSeenAt };
}
