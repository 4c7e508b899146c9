/** What a feed tells its Integration: a repeat to learn from, and that its sender cuts its list (ingestion §5.1). */
import type { Send } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { integrationAddress, type RepeatSampled, type TruncationTold } from '../integration/messages.ts';
import { routePathOf } from '../integration/route-path.ts';
import { integrationOf } from './feed-key.ts';
import { createSampleThinning, repeatGap } from './learning.ts';
import type { FeedState } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import type { WindowVerdict } from './window.ts';

export type TellSample = (
  feed: string,
  before: FeedState,
  message: SnapshotReceived,
  verdict: WindowVerdict,
) => readonly Send[];

export function createTellSample(): TellSample {
  const isWorthIt = createSampleThinning();
  return (feed, before, { snapshot, receivedAt }, verdict) => {
    const gap = repeatGap(before, snapshot, verdict, receivedAt);
    const routePath = gap === null ? null : routePathOf(snapshot.groupKey);
    const integrationId = integrationOf(feed);
    if (gap === null || routePath === null || !isWorthIt(integrationId, routePath, receivedAt)) return [];
    const message: RepeatSampled = { type: 'sample', routePath, gap, at: receivedAt };
    return [{ to: integrationAddress(integrationId as PublicId), message }];
  };
}

/** Told on the way into a cut list and out of it. */
export function tellTruncation(
  feed: string,
  before: FeedState,
  after: FeedState,
  groupKey: string,
  at: Micros,
): readonly Send[] {
  const truncated = after.value === 'truncated';
  if (truncated === (before.value === 'truncated')) return [];
  const message: TruncationTold = {
    type: 'truncation',
    feed,
    routePath: routePathOf(groupKey),
    truncated,
    at,
  };
  return [{ to: integrationAddress(integrationOf(feed) as PublicId), message }];
}
