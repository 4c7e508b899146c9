/** The Alerts of an Alert Group: the rows its actor owns (ingestion §6.2). */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type AlertHistory, type AlertReport, type AlertResolver, alertKey, type Labels } from '../model.ts';
import type { FeedPresence } from './messages.ts';

/** One Alert of this Alert Group. Replaced as a whole, never mutated. */
export interface GroupAlert {
  readonly integrationId: PublicId;
  readonly report: AlertReport;
  /** Place in the order in which Alerts came to the group, from 0. */
  readonly position: number;
  readonly state: 'firing' | 'resolved';
  /** The Route recorded with this firing. */
  readonly routeId: PublicId;
  readonly startsAt: Micros;
  /** `startsAt` of the last firing that ended; null before one did. */
  readonly endedStart: Micros | null;
  /** Receipt of the newest Snapshot that listed it as firing. */
  readonly lastSeenAt: Micros;
  readonly resolvedAt: Micros | null;
  readonly resolvedBy: AlertResolver | null;
  /** The Alert Group that took it over at the end of a Grace period; null for every other Alert. */
  readonly movedTo: PublicId | null;
  /** The presence of this firing in each feed, by feed key; empty once it ended. */
  readonly feeds: Readonly<Record<string, FeedPresence>>;
  /** The sender's groups that list this firing, or listed the last one. */
  readonly senderGroups: readonly string[];
}

/** By {@link alertKey}. */
export type GroupRows = Map<string, GroupAlert>;

/** Characters of text that the weight of one row includes, and those that weigh as much as another row. */
const TEXT_OF_A_ROW = 512;
const TEXT_AS_A_ROW = 256;

/** What the rows take of the memory that actors share, in rows of ordinary Alerts. */
export function weightOf(rows: GroupRows): number {
  let weight = 0;
  for (const { report } of rows.values()) {
    const text = textOf(report.labels) + textOf(report.annotations);
    weight += 1 + Math.max(0, Math.floor((text - TEXT_OF_A_ROW) / TEXT_AS_A_ROW));
  }
  return weight;
}

function textOf(map: Labels): number {
  let length = 0;
  for (const name in map) length += name.length + (map[name] as string).length;
  return length;
}

export function keyOf(alert: GroupAlert): string {
  return alertKey(alert.integrationId, alert.report.fingerprint);
}

/** What stays known about the last firing when the Alert fires somewhere else. */
export function historyOf(alert: GroupAlert): AlertHistory {
  const { state, startsAt, endedStart, resolvedAt, resolvedBy } = alert;
  return { state, startsAt, endedStart, resolvedAt, resolvedBy };
}

/** The Alert after its firing ended at `at`, µs. Every resolution ends all its presences (ingestion §6.2). */
export function ended(
  alert: GroupAlert,
  at: Micros,
  resolvedBy: AlertResolver,
  lastStart: Micros = alert.startsAt,
): GroupAlert {
  return {
    ...alert,
    state: 'resolved',
    resolvedAt: at,
    resolvedBy,
    endedStart: Math.max(alert.startsAt, lastStart),
    feeds: {},
  };
}

/** The Alert with the presence of one feed replaced. */
export function withPresence(alert: GroupAlert, feed: string, presence: FeedPresence): GroupAlert {
  const feeds = { ...alert.feeds, [feed]: presence };
  const listing = senderGroupsOf(feeds);
  return { ...alert, feeds, senderGroups: listing.length > 0 ? listing : alert.senderGroups };
}

/** The sender's groups that list an Alert, in ascending order. */
export function senderGroupsOf(feeds: GroupAlert['feeds']): string[] {
  const listing = Object.values(feeds).filter(({ state }) => state === 'listed');
  return listing.map(({ groupKey }) => groupKey).sort();
}

export function listingFeeds({ feeds }: GroupAlert): string[] {
  return Object.keys(feeds).filter((feed) => feeds[feed]?.state === 'listed');
}

/** Whether the feed neither lists the Alert nor still counts its miss. */
export function isOver({ state }: FeedPresence): boolean {
  return state === 'gone' || state === 'stale';
}

/** Whether no feed lists the Alert or still counts its miss (ingestion §5.1 rule 3). */
export function isAbsentEverywhere(alert: GroupAlert): boolean {
  return Object.values(alert.feeds).every(isOver);
}

export function sameLabels(left: Labels, right: Labels): boolean {
  const names = Object.keys(left);
  if (names.length !== Object.keys(right).length) return false;
  return names.every((name) => Object.hasOwn(right, name) && left[name] === right[name]);
}

export function firingAlerts(rows: GroupRows): GroupAlert[] {
  return [...rows.values()].filter(({ state }) => state === 'firing');
}

/** Items by a key, in order of first appearance. */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
