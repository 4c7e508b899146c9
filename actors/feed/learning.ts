/** What a feed's repeats tell its Integration (ingestion §6.5). */
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { MOST_SAMPLES } from '../integration/learned.ts';
import type { FeedState } from './machine.ts';
import type { Snapshot } from './snapshot.ts';
import type { WindowVerdict } from './window.ts';

const REPEAT_REASON = 'repeat interval elapsed';

/**
 * The gap between two windows, µs, when the Snapshot that opens the second one repeats the group: it says so, or, from a
 * sender that gives no reasons, has the same Alerts in the same states as the opener before. Null otherwise.
 */
export function repeatGap(
  { context }: FeedState,
  snapshot: Snapshot,
  verdict: WindowVerdict,
  receivedAt: Micros,
): Micros | null {
  if (verdict !== 'opens' || context.windowStart === null) return null;
  const { notificationReason: reason } = snapshot;
  const repeats = reason === null ? context.openedBy === snapshot.alertSet : reason === REPEAT_REASON;
  return repeats ? receivedAt - context.windowStart : null;
}

/** Samples that may come at once, and how long one takes to become possible again. */
interface Allowance {
  readonly most: number;
  readonly every: Micros;
}

/** A route path has no use for more: these many replace all that is known of it. */
const OF_ROUTE: Allowance = { most: MOST_SAMPLES, every: SECOND };
/** Keeps the actor of an Integration with very many groups from becoming the slowest part of ingestion. */
const OF_INTEGRATION: Allowance = { most: 200, every: SECOND / 20 };
/** Allowances kept in memory; beyond, all of them begin anew. */
const MOST_KEPT = 10_000;

/** Decides which samples are worth a message. Those that are left out are as good as those that are sent. */
export function createSampleThinning(): (integrationId: string, routePath: string, now: Micros) => boolean {
  /** The instant at which each allowance is whole again. */
  const wholeAt = new Map<string, Micros>();
  return (integrationId, routePath, now) =>
    take(`${integrationId} ${routePath}`, OF_ROUTE, now) && take(integrationId, OF_INTEGRATION, now);

  function take(key: string, { most, every }: Allowance, now: Micros): boolean {
    const whole = Math.max(wholeAt.get(key) ?? now, now);
    if (whole - now > (most - 1) * every) return false;
    if (wholeAt.size >= MOST_KEPT) wholeAt.clear();
    wholeAt.set(key, whole + every);
    return true;
  }
}
