/** Inputs of a turn from outside the group, and which of them it needs (ports.ts). */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Directory } from '../../directory.ts';
import { alertKey, type Slot } from '../../model.ts';
import { slotFor } from '../../route/evaluate.ts';
import type { SnapshotPart, TailsHandover } from '../messages.ts';
import { type ContestedAlerts, NOTHING_ASKED, type Outside, type RelatedGroups, slotKey } from '../ports.ts';
import { firingAlerts, type GroupAlert, type GroupRows, listingFeeds } from '../rows.ts';
import { contextOf, type GroupState } from '../state.ts';
import { isLive, lacksSuccessor, liveRoute, liveSlot, sameSlot } from './placing.ts';

export interface Question {
  readonly slots: readonly Slot[];
  /** Alerts whose home is read, by `alertKey`. */
  readonly alerts?: readonly string[];
  /** Keys of feeds. */
  readonly feeds?: readonly string[];
}

/** Reads what a turn needs from storage; null when it needs nothing. */
export function lookUp(
  related: RelatedGroups,
  { slots, alerts = [], feeds = [] }: Question,
): Promise<Outside> | null {
  if (slots.length + alerts.length + feeds.length === 0) return null;
  return Promise.all([
    slots.length > 0 ? related.slotTargets(slots) : NOTHING_ASKED.slots.targets,
    alerts.length > 0 ? related.homesOf(alerts) : NOTHING_ASKED.homes,
    feeds.length > 0 ? related.feedsHeardAt(feeds) : NOTHING_ASKED.heardAt,
  ]).then(([targets, homes, heardAt]) => ({
    slots: { asked: new Set(slots.map(slotKey)), targets },
    homes,
    heardAt,
    newer: null,
    handled: null,
  }));
}

/** Inputs of Unresolve: a newer open group, and the group that the Slot names, which returns to this one. */
export async function lookUpForUnresolve(
  related: RelatedGroups,
  slot: Slot,
  self: PublicId,
): Promise<Outside> {
  const { routeId, keyHash } = slot;
  const [newer, targets] = await Promise.all([
    related.newerOpen({ routeId, keyHash, except: self }),
    related.slotTargets([slot]),
  ]);
  return { ...NOTHING_ASKED, slots: { asked: new Set([slotKey(slot)]), targets }, newer };
}

/**
 * Slots to which a part may send new firings: others than the group's own after an edit or deletion of a Route, and its
 * own once it takes none itself.
 */
export function partSlots(
  state: GroupState,
  part: SnapshotPart,
  directory: Directory,
  contested: ContestedAlerts,
): Slot[] {
  const own = state.stage === 'started' ? state.slot : part.firing[0]?.slot;
  const foreign: Slot[] = [];
  const asksForOwn =
    own && (contested.has(slotKey(own)) || lacksSuccessor(state, part.receivedAt, directory));
  if (part.firing.length > 0 && asksForOwn) foreign.push(own);
  for (const { slot, report } of part.firing) {
    if (own && sameSlot(own, slot) && isLive(slot.routeId, directory)) continue;
    foreign.push(liveSlot(slot, report.labels, directory));
  }
  return foreign;
}

/** From the second hop on a group asks for the present address instead of following every former one. */
const HOPS_BEFORE_ASKING = 2;

/**
 * Alerts of a part whose home has to be read because they do not fire here: listed Alerts that another group claimed,
 * others whose new home is not recorded here, and all of them once the part has been forwarded repeatedly.
 */
export function alertsToFind(
  state: GroupState,
  rows: GroupRows,
  part: SnapshotPart,
  contested: ContestedAlerts,
): string[] {
  const keyFor = (fingerprint: string) => alertKey(part.integrationId, fingerprint);
  const listed = part.firing.map(({ report }) => keyFor(report.fingerprint));
  const others = [
    ...part.resolved.map(({ fingerprint }) => fingerprint),
    ...part.groupWideResolved,
    ...part.presences.map(({ fingerprint }) => fingerprint),
  ].map(keyFor);
  const strayed = part.hops >= HOPS_BEFORE_ASKING;
  const succeeded = state.stage === 'started' && state.successorId !== null;
  return [
    ...listed.filter((key) => strayed || contested.has(key)),
    ...others.filter((key) => strayed || !(succeeded || rows.get(key)?.movedTo)),
  ].filter((key) => rows.get(key)?.state !== 'firing');
}

/**
 * Feeds that list an Alert which a part would end: they may have listed it again without a report, because repeats are
 * not reported. The sending feed's reports arrive in order, except in late parts, so it is asked only for those.
 */
export function feedsToAsk(rows: GroupRows, part: SnapshotPart): string[] {
  const ending = [...part.resolved.map(({ fingerprint }) => fingerprint), ...part.groupWideResolved];
  const feeds = ending.flatMap((fingerprint) => {
    const alert = rows.get(alertKey(part.integrationId, fingerprint));
    return alert?.state === 'firing' ? listingFeeds(alert) : [];
  });
  return [...new Set(feeds)].filter((feed) => part.late || feed !== part.feed);
}

/** Receipt of the newest Snapshot known here that lists an Alert as firing, µs. */
export function lastListedAt(alert: GroupAlert, { heardAt }: Outside): Micros {
  return Math.max(alert.lastSeenAt, ...listingFeeds(alert).map((feed) => heardAt.get(feed) ?? 0));
}

/** The Slot by which handed-over tails find their group when they were sent to the wrong one. */
export function tailsSlot(
  state: GroupState,
  handover: TailsHandover,
  directory: Directory,
  contested: ContestedAlerts,
): Slot[] {
  const { slot, hops, tails } = handover;
  const isContested = contested.has(slotKey(slot));
  if (isContested || hops >= HOPS_BEFORE_ASKING || lacksSuccessor(state, handover.at, directory))
    return [slot];
  const [tail] = tails;
  if (state.stage === 'started' || isLive(slot.routeId, directory) || !tail) return [];
  return [liveSlot(slot, tail.report.labels, directory)];
}

/**
 * Where each Alert that still fires would be grouped now, by the present Route and its present Group key
 * (alert-groups §4.2).
 */
export function tailSlots(state: GroupState, rows: GroupRows, directory: Directory): Map<string, Slot> {
  if (state.stage === 'unstarted') return new Map();
  const route = liveRoute(contextOf(state).routeId, directory);
  const tails = firingAlerts(rows).map(({ integrationId, report }) => {
    const key = alertKey(integrationId, report.fingerprint);
    return [key, slotFor(route, report.labels)] as const;
  });
  return new Map(tails);
}
