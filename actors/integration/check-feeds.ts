/** The look at what senders do not list any more because they are silent as a whole (ingestion §6.4, §6.6). */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type FeedSilent, feedAddress } from '../feed/messages.ts';
import { staleAfter, UNLEARNED_STALE_AFTER } from './learned.ts';
import { instantBefore, liveTimeBetween } from './live-time.ts';
import type { FeedsSeen, IntegrationWatch, SilentFeed } from './ports.ts';
import type { IntegrationRows } from './rows.ts';
import { CHECK_PAUSE, type IntegrationState, isAlive, isGone } from './state.ts';
import type { IntegrationTurn } from './turn.ts';

/** Feeds told in one turn. */
export const FEEDS_AT_ONCE = 500;

export interface FeedsLookedAt {
  /** Null when a Snapshot turned up that may list what looks silent. */
  readonly seen: FeedsSeen | null;
  /** Of presences that count as stale, the last listing was before this, by route path. */
  readonly cutoffs: ReadonlyMap<string, Micros>;
  /** The same for route paths that nothing is learned of. */
  readonly unlearnedCutoff: Micros;
}

/** A look reads all feeds of the Integration; processing.stale_check allows 30 s. */
const LEAST_BETWEEN_CHECKS: Micros = 20 * SECOND;

/** Before every instant: nothing is so old. */
const NEVER: Micros = 0;

/** Whether feeds that are silent may have Alerts that are stale, or just lists that were cut. */
type Sight = 'presences' | 'truncated' | 'none';

function sightOf(state: IntegrationState, rows: IntegrationRows, now: Micros): Sight {
  if (state.snapshot.value === 'not_configured') return rows.truncated.size > 0 ? 'truncated' : 'none';
  return isAlive(state, now) ? 'presences' : 'none';
}

/** Null while it is not time, or nothing proves that the sender's path works. */
export function lookAtFeeds(
  watch: IntegrationWatch,
  id: PublicId,
  state: IntegrationState,
  rows: IntegrationRows,
  now: Micros,
): Promise<FeedsLookedAt> | null {
  const { checkAt } = state.snapshot.context;
  if (checkAt === null || now < checkAt) return null;
  const sight = sightOf(state, rows, now);
  return sight === 'none' ? null : look(watch, id, state, rows, now, sight);
}

/**
 * What waits to be processed may list what looks silent: silence is judged as of the receipt of the oldest, so that one
 * whose Snapshots never end is judged, too.
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
  const isOff = sight === 'truncated';
  const { gaps } = state.snapshot.context;
  const before = (span: Micros) => (isOff ? asOf - span : (instantBefore(gaps, asOf, span) ?? NEVER));
  const unlearnedCutoff = before(UNLEARNED_STALE_AFTER);
  const cutoffs = new Map<string, Micros>();
  if (!isOff) {
    for (const { path, interval } of rows.routes.values()) cutoffs.set(path, before(staleAfter(interval)));
  }
  const query = { cutoffs, unlearnedCutoff, onlyTruncated: isOff, limit: FEEDS_AT_ONCE };
  const seen = await watch.silentFeeds(id, query);
  // One that came before the feeds were read waits still, or its feed has heard it and says so.
  const isOutdated = seen.silent.length > 0 && ((await watch.waitingSince(id)) ?? asOf) < asOf;
  return { seen: isOutdated ? null : seen, cutoffs, unlearnedCutoff };
}

/** Tells silent feeds, and plans the next look. */
export function checkFeeds(turn: IntegrationTurn, { seen, cutoffs, unlearnedCutoff }: FeedsLookedAt): void {
  const sight = sightOf(turn.state, turn.rows, turn.now);
  // The Heartbeat fell silent, or everything was told, since the feeds were read.
  if (sight === 'none' || seen === null) {
    planCheck(turn, turn.now + CHECK_PAUSE);
    return;
  }
  const cutoffOf = (routePath: string | null) =>
    (routePath === null ? undefined : cutoffs.get(routePath)) ?? unlearnedCutoff;
  const counts = { groups: 0, alerts: 0 };
  for (const feed of seen.silent) {
    const cutoff = cutoffOf(feed.routePath);
    const isStale = sight === 'presences' && feed.presences > 0;
    turn.send({ to: feedAddress(feed.feed), message: silent(turn, feed, cutoff, isStale) });
    if (!isStale) continue;
    counts.groups += 1;
    counts.alerts += feed.presences;
  }
  turn.endTruncations(
    seen.silent.filter(({ routePath, heardAt }) => heardAt < cutoffOf(routePath)).map(({ feed }) => feed),
  );
  if (counts.alerts > 0) {
    turn.perform({ type: 'integration.alerts_stale', integrationId: turn.id, ...counts });
  }
  const isOver = sightOf(turn.state, turn.rows, turn.now) === 'none';
  planCheck(turn, isOver ? null : nextCheckAt(turn, seen, sight));
}

function silent(turn: IntegrationTurn, feed: SilentFeed, cutoff: Micros, stale: boolean): FeedSilent {
  const { groupKey, heardAt } = feed;
  return { type: 'silent', groupKey, heardAt, cutoff, stale, at: turn.now };
}

/** A look is due soon, whatever was planned. */
export function hurryCheck(turn: IntegrationTurn): void {
  const { checkAt } = turn.state.snapshot.context;
  const soon = turn.now + CHECK_PAUSE;
  if (checkAt === null || checkAt > soon) planCheck(turn, soon);
}

/** There was nothing to look at although a look was planned: nothing proves that the path works, or no list is cut. */
export function postponeCheck(turn: IntegrationTurn): void {
  const { value, context } = turn.state.snapshot;
  if (context.checkAt === null || context.checkAt > turn.now || isGone(turn.state)) return;
  turn.step({ type: 'check_planned', at: value === 'live' ? turn.now + CHECK_PAUSE : null });
}

function planCheck(turn: IntegrationTurn, at: Micros | null): void {
  turn.step({ type: 'check_planned', at });
}

/**
 * When the next Alert may become stale, if live time goes on: one that is listed now, or one that is first listed right
 * after this look.
 */
function nextCheckAt(turn: IntegrationTurn, seen: FeedsSeen, sight: Exclude<Sight, 'none'>): Micros {
  const { now, rows } = turn;
  if (seen.silent.length >= FEEDS_AT_ONCE) return now + CHECK_PAUSE;
  const { gaps } = turn.state.snapshot.context;
  const spanOf = (routePath: string | null) =>
    sight === 'truncated'
      ? UNLEARNED_STALE_AFTER
      : staleAfter(routePath === null ? null : (rows.routes.get(routePath)?.interval ?? null));
  const passed = (since: Micros) =>
    sight === 'truncated' ? now - since : liveTimeBetween(gaps, Math.min(since, now), now);
  let next = now + UNLEARNED_STALE_AFTER;
  if (sight === 'presences') {
    for (const { interval } of rows.routes.values()) next = Math.min(next, now + staleAfter(interval));
  }
  for (const { routePath, listedAt } of seen.next) {
    next = Math.min(next, now + spanOf(routePath) - passed(listedAt));
  }
  return Math.max(next, now + LEAST_BETWEEN_CHECKS);
}
