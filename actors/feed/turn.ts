/** What a feed's turns are made of: what each records, sends and reports. */
import type { Actor, RecordedEffect, Send, Turn, TurnEnv } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { alertGroupAddress, type SnapshotPart } from '../alert-group/messages.ts';
import { routePathOf } from '../integration/route-path.ts';
import type { Comparison } from './compare.ts';
import type {
  FeedHeard,
  PresencesChanged,
  SnapshotCounts,
  SnapshotReported,
  SnapshotSettled,
} from './effects.ts';
import { integrationOf } from './feed-key.ts';
import type { FeedState } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import type { GroupPart } from './parts.ts';
import type { FeedRows, Presence } from './rows.ts';
import type { WindowVerdict } from './window.ts';

export type FeedActor = Actor<FeedState, FeedRows>;
export type FeedTurn = Turn<FeedState>;

export const NOTHING: readonly never[] = [];

export function turn(state: FeedState): FeedTurn {
  return { state, wakeAt: null, sends: NOTHING, records: NOTHING, performs: NOTHING };
}

export function unchanged(state: FeedState): FeedTurn {
  return turn(state);
}

export function integrationIdOf(actor: FeedActor): PublicId {
  return integrationOf(actor.self.key) as PublicId;
}

export function keep(rows: FeedRows, { saved, removed }: Comparison): void {
  for (const presence of saved) rows.set(presence.fingerprint, presence);
  for (const fingerprint of removed) rows.delete(fingerprint);
}

/** One part for each Alert Group concerned. */
export function partsOf(
  parts: readonly GroupPart[],
  head: Omit<SnapshotPart, 'type' | 'hops' | keyof GroupPart>,
): Send[] {
  return parts.map(({ groupId, ...said }) => {
    const part: SnapshotPart = { type: 'part', ...head, ...said, hops: 0 };
    return { to: alertGroupAddress(groupId), message: part };
  });
}

export function recordsOf(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  { saved, removed }: Comparison,
): RecordedEffect[] {
  const records: RecordedEffect[] = [settled(message, env, null), heard(actor, message)];
  if (saved.length + removed.length > 0) {
    records.push(presencesChanged(actor, saved, removed));
  }
  return records;
}

export function settled(message: SnapshotReceived, env: TurnEnv, error: string | null): SnapshotSettled {
  const { snapshot } = message;
  return {
    type: 'snapshot.settled',
    seq: message.seq,
    processedAt: env.now,
    groupKey: snapshot.groupKey,
    alertCount: snapshot.entries.length,
    truncatedAlerts: snapshot.truncatedAlerts,
    error,
  };
}

export function heard(actor: FeedActor, message: SnapshotReceived): FeedHeard {
  const first = actor.state.value === 'unknown';
  return {
    type: 'feed.heard',
    feed: actor.self.key,
    integrationId: integrationIdOf(actor),
    groupKey: message.snapshot.groupKey,
    receivedAt: message.receivedAt,
    first,
    routePath: first ? routePathOf(message.snapshot.groupKey) : null,
  };
}

export function presencesChanged(
  actor: FeedActor,
  saved: readonly Presence[],
  removed: readonly string[],
): PresencesChanged {
  return { type: 'feed.presences', feed: actor.self.key, saved, removed };
}

export function report(
  actor: FeedActor,
  message: SnapshotReceived,
  counts: SnapshotCounts,
  error: string | null,
  late: boolean,
): SnapshotReported {
  const { snapshot } = message;
  return {
    type: 'snapshot.reported',
    integrationId: integrationIdOf(actor),
    snapshotId: message.snapshotId,
    receivedAt: message.receivedAt,
    groupKey: snapshot.groupKey,
    alerts: snapshot.entries.length,
    truncatedAlerts: snapshot.truncatedAlerts,
    late,
    counts,
    error,
  };
}

export function sendsOf(
  actor: FeedActor,
  message: SnapshotReceived,
  comparison: Comparison,
  verdict: WindowVerdict,
  duplicateWindow: Micros,
): Send[] {
  return partsOf(comparison.parts, {
    snapshotId: message.snapshotId,
    receivedAt: message.receivedAt,
    late: verdict === 'late',
    integrationId: integrationIdOf(actor),
    feed: actor.self.key,
    groupKey: message.snapshot.groupKey,
    duplicateWindow,
  });
}
