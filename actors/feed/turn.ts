/** What a feed's turns record, send and report, and what they notify its Integration of (ingestion §5.1, §6.5). */
import type { Actor, RecordedEffect, Send, Turn, TurnEnv } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { alertGroupAddress, type SnapshotPart } from '../alert-group/messages.ts';
import { integrationAddress, type RepeatSampled, type TruncationTold } from '../integration/messages.ts';
import { MOST_SAMPLES, routePathOf } from '../integration/rows.ts';
import type { GroupPart } from './alert-mapper.ts';
import type { Comparison } from './compare.ts';
import type {
  FeedHeard,
  PresencesChanged,
  SnapshotCounts,
  SnapshotReported,
  SnapshotSettled,
} from './effects.ts';
import { integrationOf } from './identity.ts';
import type { FeedState, WindowVerdict } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import type { FeedRows, Presence } from './rows.ts';
import { MANY_ENTRIES } from './snapshot.ts';

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

export function keep(rows: FeedRows, { saved, removed }: Pick<Comparison, 'saved' | 'removed'>): void {
  for (const presence of saved) rows.set(presence.fingerprint, presence);
  for (const fingerprint of removed) rows.delete(fingerprint);
}

/** One part for each Alert Group concerned. */
export function partsOf(
  parts: readonly GroupPart[],
  head: Omit<SnapshotPart, 'type' | 'hops' | keyof GroupPart>,
  fresh: ReadonlySet<PublicId> = NONE,
): Send[] {
  return parts.map(({ groupId, ...said }) => {
    const part: SnapshotPart = {
      ...{ type: 'part', ...head, ...said, hops: 0 },
      ...(isLargePart(said) ? { isLarge: true as const } : {}),
    };
    const to = alertGroupAddress(groupId);
    return fresh.has(groupId) ? { to, message: part, isNew: true } : { to, message: part };
  });
}

const NONE: ReadonlySet<PublicId> = new Set();

/** Characters of labels and annotations from which a part is large. */
const LARGE_TEXTS = 512 * 1024;
/** Parts with fewer firing entries are small by the bounds of their texts, so their size need not be computed. */
const FEW_ENTRIES = 5;

function isLargePart(part: Omit<GroupPart, 'groupId'>): boolean {
  const { firing, resolved, groupWideResolved, withdrawn, presences } = part;
  const changes = resolved.length + groupWideResolved.length + withdrawn.length + presences.length;
  if (firing.length + changes >= MANY_ENTRIES) return true;
  if (firing.length < FEW_ENTRIES) return false;
  let characters = 0;
  for (const { report } of firing) {
    for (const name in report.labels) characters += name.length + (report.labels[name] ?? '').length;
    for (const name in report.annotations)
      characters += name.length + (report.annotations[name] ?? '').length;
  }
  return characters >= LARGE_TEXTS;
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
  fresh: ReadonlySet<PublicId> | undefined,
): Send[] {
  const head = {
    snapshotId: message.snapshotId,
    receivedAt: message.receivedAt,
    late: verdict === 'late',
    integrationId: integrationIdOf(actor),
    feed: actor.self.key,
    groupKey: message.snapshot.groupKey,
    duplicateWindow,
  };
  return partsOf(comparison.parts, head, fresh);
}

/** Reports to the Integration two alike repeats in succession, to learn their interval from (ingestion §6.5). */
export type TellSample = (
  feed: string,
  before: FeedState,
  after: FeedState,
  groupKey: string,
) => readonly Send[];

export function createTellSample(): TellSample {
  const isWorthIt = createSampleThinning();
  return (feed, before, after, groupKey) => {
    const sample = sampleOf(before, after);
    const routePath = sample === null ? null : routePathOf(groupKey);
    const integrationId = integrationOf(feed);
    if (sample === null || routePath === null || !isWorthIt(integrationId, routePath, sample.at)) return [];
    const message: RepeatSampled = { type: 'sample', routePath, ...sample };
    return [{ to: integrationAddress(integrationId as PublicId), message }];
  };
}

/** Sent when a feed becomes truncated and when it stops being truncated. */
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

/** Part of the longer of two gaps by which they may differ and are still alike. */
const ALIKE = 1 / 5;

/**
 * The longer of the last two gaps, if both ended with repeats and are alike. One gap proves nothing: a sender that was
 * restarted, or repeats a post whose answer was lost, posts the same list at no rhythm.
 */
function sampleOf(before: FeedState, after: FeedState): Omit<RepeatSampled, 'type' | 'routePath'> | null {
  const [first, second] = [before.context.repeatGap, after.context.repeatGap];
  if (!first || !second || first.to !== second.from) return null;
  const [one, other] = [first.to - first.from, second.to - second.from];
  const gap = Math.max(one, other);
  return Math.abs(one - other) <= gap * ALIKE ? { gap, since: first.from, at: second.to } : null;
}

/** Samples allowed in a burst, and the time until another one is allowed. */
interface Allowance {
  readonly most: number;
  readonly every: Micros;
}

/** A route path has no use for more: these many replace all that is known of it. */
const OF_ROUTE: Allowance = { most: MOST_SAMPLES, every: SECOND };
/** Keeps the actor of an Integration with very many groups from becoming the slowest part of ingestion. */
const OF_INTEGRATION: Allowance = { most: 200, every: SECOND / 20 };
/** Allowances kept in memory; when there are more, all are reset. */
const MOST_KEPT = 10_000;

/** Decides which samples are worth a message. Those that are left out are of the same route, and as old. */
function createSampleThinning(): (integrationId: string, routePath: string, now: Micros) => boolean {
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
