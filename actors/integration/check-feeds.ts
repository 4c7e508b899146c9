/**
 * The stale check: finds sender groups that are silent as a whole, so that their Alerts turn stale (ingestion §6.4,
 * §6.6).
 */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type FeedSilent, feedAddress } from '../feed/messages.ts';
import { outagesUntil } from '../system/downtime.ts';
import { type Gap, instantBefore, liveTimeBetween, withOutages } from './machine.ts';
import type { FeedsSeen, IntegrationWatch, SilentFeed } from './ports.ts';
import { type IntegrationRows, staleAfter, UNLEARNED_STALE_AFTER } from './rows.ts';
import { CHECK_PAUSE, type IntegrationState, type IntegrationTurn, isAlive, isGone } from './turn.ts';

/** Feeds notified in one turn. */
export const FEEDS_AT_ONCE = 500;

export interface FeedsLookedAt {
  readonly sight: Exclude<Sight, 'none'>;
  /** Past time that is no live time. */
  readonly gaps: readonly Gap[];
  /** Null when a Snapshot arrived in the meantime that may list the Alerts that appear silent. */
  readonly seen: FeedsSeen | null;
  /** By route path: a presence is stale when its last listing is older than this. */
  readonly cutoffs: ReadonlyMap<string, Micros>;
  /** The same for route paths without a learned repeat interval. */
  readonly unlearnedCutoff: Micros;
}

/** A check reads all feeds of the Integration, so it must not run too often; processing.stale_check allows 30 s. */
const LEAST_BETWEEN_CHECKS: Micros = 20 * SECOND;

/** A cutoff before every instant: nothing is stale. */
const NEVER: Micros = 0;

/**
 * Which presences become stale by silence. With a live Heartbeat: all, measured in live time. Otherwise, measured by
 * the clock: only those whose last entry was resolved with an older start, and, with the Heartbeat off, those of
 * truncated groups.
 */
type Sight = 'all' | 'older_ends' | 'older_ends_and_truncated' | 'none';

function sightOf(state: IntegrationState, now: Micros): Sight {
  if (isGone(state)) return 'none';
  const { value } = state.snapshot;
  if (value === 'not_configured') return 'older_ends_and_truncated';
  if (value !== 'live') return 'older_ends';
  return isAlive(state, now) ? 'all' : 'none';
}

/** Null when no check is due, or while a live Heartbeat is overdue, so that silence is no evidence. */
export function lookAtFeeds(
  watch: IntegrationWatch,
  id: PublicId,
  state: IntegrationState,
  rows: IntegrationRows,
  now: Micros,
): Promise<FeedsLookedAt> | null {
  const { checkAt } = state.snapshot.context;
  if (checkAt === null || now < checkAt) return null;
  const sight = sightOf(state, now);
  return sight === 'none' ? null : look(watch, id, state, rows, now, sight);
}

/**
 * A queued Snapshot may list an Alert that appears silent, so silence is measured up to the receipt of the oldest
 * queued one. Checks therefore make progress even when the queue is never empty.
 */
async function look(
  watch: IntegrationWatch,
  id: PublicId,
  state: IntegrationState,
  rows: IntegrationRows,
  now: Micros,
  sight: Exclude<Sight, 'none'>,
): Promise<FeedsLookedAt> {
  const asOf = Math.min(now, (await watch.waitingSince(id)) ?? now);
  const isByClock = sight !== 'all';
  const gaps = withOutages(
    state.snapshot.context.gaps,
    isByClock ? [] : outagesUntil(now, await watch.heartbeat(id)),
  );
  const before = (span: Micros) => (isByClock ? asOf - span : (instantBefore(gaps, asOf, span) ?? NEVER));
  const unlearnedCutoff = before(UNLEARNED_STALE_AFTER);
  const cutoffs = new Map<string, Micros>();
  if (!isByClock) {
    for (const { path, interval } of rows.routes.values()) cutoffs.set(path, before(staleAfter(interval)));
  }
  const query = { cutoffs, unlearnedCutoff, among: sight, limit: FEEDS_AT_ONCE };
  const seen = await watch.silentFeeds(id, query);
  // A Snapshot that arrived before the feeds were read is still queued, or its feed has recorded it.
  const isOutdated = seen.silent.length > 0 && ((await watch.waitingSince(id)) ?? asOf) < asOf;
  return { sight, gaps, seen: isOutdated ? null : seen, cutoffs, unlearnedCutoff };
}

/** Notifies silent feeds, and plans the next check. */
export function checkFeeds(turn: IntegrationTurn, looked: FeedsLookedAt): void {
  const { sight, seen, cutoffs, unlearnedCutoff } = looked;
  // The Heartbeat was lost or recovered since the feeds were read.
  if (sight !== sightOf(turn.state, turn.now) || seen === null) {
    planCheck(turn, turn.now + CHECK_PAUSE);
    return;
  }
  const cutoffOf = (routePath: string | null) =>
    (routePath === null ? undefined : cutoffs.get(routePath)) ?? unlearnedCutoff;
  const counts = { groups: 0, alerts: 0 };
  for (const feed of seen.silent) {
    const cutoff = cutoffOf(feed.routePath);
    turn.send({ to: feedAddress(feed.feed), message: silent(turn, feed, cutoff, sight) });
    if (feed.presences === 0) continue;
    counts.groups += 1;
    counts.alerts += feed.presences;
  }
  turn.endTruncations(
    seen.silent.filter(({ routePath, heardAt }) => heardAt < cutoffOf(routePath)).map(({ feed }) => feed),
  );
  if (counts.alerts > 0) {
    turn.perform({ type: 'integration.alerts_stale', integrationId: turn.id, ...counts });
  }
  planCheck(turn, nextCheckAt(turn, seen, looked));
}

function silent(turn: IntegrationTurn, feed: SilentFeed, cutoff: Micros, sight: Sight): FeedSilent {
  const { groupKey, heardAt, presences } = feed;
  const onlyOlderEnds = sight === 'all' ? {} : { onlyOlderEnds: true as const };
  return { type: 'silent', groupKey, heardAt, cutoff, stale: presences > 0, ...onlyOlderEnds, at: turn.now };
}

/** Moves the next check forward. */
export function hurryCheck(turn: IntegrationTurn): void {
  const { checkAt } = turn.state.snapshot.context;
  const soon = turn.now + CHECK_PAUSE;
  if (checkAt === null || checkAt > soon) planCheck(turn, soon);
}

/** Schedules the next check when a due one did not run because the sender's path is not known to work. */
export function postponeCheck(turn: IntegrationTurn): void {
  const { checkAt } = turn.state.snapshot.context;
  if (checkAt !== null && checkAt <= turn.now && !isGone(turn.state)) planCheck(turn, turn.now + CHECK_PAUSE);
}

/**
 * A check is always planned, at the latest {@link UNLEARNED_STALE_AFTER} ahead, so that a feed that falls silent
 * after one check is found by the next in time. A change of the Heartbeat's state changes the clock, so a check may
 * be due at once.
 */
export function keepLooking(turn: IntegrationTurn, valueBefore: string): void {
  const { value, context } = turn.state.snapshot;
  if (isGone(turn.state) || (context.checkAt !== null && value === valueBefore)) return;
  hurryCheck(turn);
}

function planCheck(turn: IntegrationTurn, at: Micros | null): void {
  turn.step({ type: 'check_planned', at });
}

/**
 * The earliest time at which an Alert may become stale if live time advances: one that is listed now, or one that is
 * first listed right after this check.
 */
function nextCheckAt(turn: IntegrationTurn, seen: FeedsSeen, { sight, gaps }: FeedsLookedAt): Micros {
  const { now, rows } = turn;
  if (seen.silent.length >= FEEDS_AT_ONCE) return now + CHECK_PAUSE;
  const spanOf = (routePath: string | null) =>
    sight !== 'all'
      ? UNLEARNED_STALE_AFTER
      : staleAfter(routePath === null ? null : (rows.routes.get(routePath)?.interval ?? null));
  const passed = (since: Micros) =>
    sight !== 'all' ? now - since : liveTimeBetween(gaps, Math.min(since, now), now);
  let next = now + UNLEARNED_STALE_AFTER;
  if (sight === 'all') {
    for (const { interval } of rows.routes.values()) next = Math.min(next, now + staleAfter(interval));
  }
  for (const { routePath, listedAt } of seen.next) {
    next = Math.min(next, now + spanOf(routePath) - passed(listedAt));
  }
  return Math.max(next, now + LEAST_BETWEEN_CHECKS);
}
