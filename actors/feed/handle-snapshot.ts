/** The turns of a feed that receives a Snapshot, and of one that its Integration found silent (ingestion §6). */
import { begin, step, type TurnEnv } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { type AlertMapper, createParts, type GroupPart } from './alert-mapper.ts';
import { afterMiss, type ComparisonInputs, compare } from './compare.ts';
import { NO_COUNTS } from './effects.ts';
import {
  type FeedState,
  feedMachine,
  judgeWindow,
  VERIFICATION_INTERVAL,
  type WindowVerdict,
} from './machine.ts';
import type { FeedSilent, SnapshotReceived } from './messages.ts';
import { homeIn, isLostIn, mappedIn, type Surroundings, targetIn } from './prepare.ts';
import { type FeedRows, olderEndOf, type Presence } from './rows.ts';
import type { Snapshot } from './snapshot.ts';
import {
  type FeedActor,
  type FeedTurn,
  heard,
  integrationIdOf,
  keep,
  NOTHING,
  partsOf,
  presencesChanged,
  recordsOf,
  report,
  sendsOf,
  settled,
  type TellSample,
  tellTruncation,
  turn,
  unchanged,
} from './turn.ts';

export function handleSnapshot(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  mapper: AlertMapper,
  tellSample: TellSample,
): FeedTurn {
  const { snapshot, receivedAt } = message;
  const duplicateWindow = windowOf(mapper);
  const verdict = verdictOn(actor.state, message, mapper);
  const surroundings = env.prepared as Surroundings | undefined;
  const verified = surroundings?.verified === true;
  if (!verified && isKnown(actor, message, mapper, verdict)) {
    return repeat(actor, message, env, mapper, verdict, tellSample);
  }

  const truncated = isTruncated(snapshot);
  const comparison = compare(snapshot, actor.rows, {
    ...inputsOf(actor.state, verdict, receivedAt, duplicateWindow, truncated),
    edition: mapper.edition,
    namedEnds: new Map(actor.state.context.namedEnds),
    endsElsewhere: new Map(actor.state.context.endsElsewhere),
    map: (entry) => mappedIn(surroundings, mapper, entry),
    home: (fingerprint) => homeIn(surroundings, fingerprint),
    target: (fingerprint) => targetIn(surroundings, fingerprint),
    isLost: (fingerprint) => isLostIn(surroundings, fingerprint, receivedAt),
  });
  keep(actor.rows, comparison);
  const { snapshot: state } = step(feedMachine, actor.state, {
    type: 'snapshot',
    receivedAt,
    duplicateWindow,
    replayed: message.replayed,
    alertSet: snapshot.alertSet,
    truncated,
    complete: comparison.complete,
    digest: comparison.certain ? snapshot.digest + mapper.edition : null,
    verified,
    ends: comparison.ends,
    isPresent: (fingerprint) => actor.rows.has(fingerprint),
  });
  return {
    ...turn(state),
    sends: [
      ...sendsOf(actor, message, comparison, verdict, duplicateWindow),
      ...tellTruncation(actor.self.key, actor.state, state, snapshot.groupKey, receivedAt),
      ...tellSample(actor.self.key, actor.state, message, verdict),
    ],
    records: recordsOf(actor, message, env, comparison),
    performs: [report(actor, message, comparison.counts, null, verdict === 'late')],
  };
}

/**
 * Whether there is nothing to learn from a Snapshot that says what the last one said: it counts as one with that one
 * while the window lasts and no absence is long enough meanwhile, and later, too, when every Alert present is listed and
 * nothing that ended.
 */
export function isKnown(
  { state, rows }: Pick<FeedActor, 'state' | 'rows'>,
  { snapshot, receivedAt }: SnapshotReceived,
  mapper: AlertMapper,
  verdict: WindowVerdict,
): boolean {
  if (state.context.digest !== snapshot.digest + mapper.edition) return false;
  if (state.value === 'steady') return true;
  if (verdict !== 'same') return false;
  const inputs = inputsOf(state, verdict, receivedAt, windowOf(mapper), isTruncated(snapshot));
  return !(inputs.decidesAbsence && [...rows.values()].some((one) => afterMiss(one, inputs) !== null));
}

/**
 * Whether a Snapshot is the one with which a feed looks whether what it relies on still holds. Only one that opens a
 * window is, and now and then: a message that was set aside as a defect would otherwise be missing for good.
 */
export function mustVerify({ context }: FeedState, receivedAt: Micros, verdict: WindowVerdict): boolean {
  if (verdict !== 'opens') return false;
  return context.verifiedAt === null || receivedAt - context.verifiedAt >= VERIFICATION_INTERVAL;
}

function windowOf(mapper: AlertMapper): Micros {
  return mapper.integration.duplicateWindowSeconds * SECOND;
}

export function verdictOn(
  state: FeedState,
  { receivedAt, replayed }: SnapshotReceived,
  mapper: AlertMapper,
): WindowVerdict {
  const duplicateWindow = windowOf(mapper);
  return judgeWindow(state.context.windowStart, { receivedAt, duplicateWindow, replayed });
}

/** A Snapshot that repeats the last one. Inside a window it moves nothing but the time the feed was heard. */
function repeat(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  mapper: AlertMapper,
  verdict: WindowVerdict,
  tellSample: TellSample,
): FeedTurn {
  const { receivedAt, snapshot } = message;
  const state =
    verdict === 'opens'
      ? step(feedMachine, actor.state, {
          type: 'snapshot',
          receivedAt,
          duplicateWindow: windowOf(mapper),
          replayed: false,
          alertSet: snapshot.alertSet,
          truncated: false,
          complete: true,
          digest: snapshot.digest + mapper.edition,
          verified: false,
          ends: NOTHING,
          isPresent: (fingerprint) => actor.rows.has(fingerprint),
        }).snapshot
      : actor.state;
  return {
    ...turn(state),
    sends: tellSample(actor.self.key, actor.state, message, verdict),
    records: [settled(message, env, null), heard(actor, message)],
    performs: [report(actor, message, NO_COUNTS, null, verdict === 'late')],
  };
}

function inputsOf(
  state: FeedState,
  verdict: WindowVerdict,
  receivedAt: Micros,
  duplicateWindow: Micros,
  truncated: boolean,
): Pick<
  ComparisonInputs,
  'verdict' | 'receivedAt' | 'duplicateWindow' | 'windowStart' | 'lastWindowStart' | 'decidesAbsence'
> {
  const { windowStart, windowTruncated } = state.context;
  const opens = verdict === 'opens';
  const counts = opens || verdict === 'same';
  return {
    verdict,
    receivedAt,
    duplicateWindow,
    windowStart: opens || windowStart === null ? receivedAt : windowStart,
    lastWindowStart: windowStart ?? receivedAt,
    decidesAbsence: counts && !truncated && (opens || !windowTruncated),
  };
}

/** A Snapshot that resolves the whole group ends truncation whatever it cut (ingestion §6.4). */
function isTruncated(snapshot: Snapshot): boolean {
  return snapshot.truncatedAlerts > 0 && snapshot.status === 'firing';
}

/**
 * Its Integration heard nothing of it for too long: presences are stale, which their homes are told as of the check, and
 * a cut list counts no longer. When a newer Snapshot was faster, the Integration may have forgotten that it is cut.
 */
export function fallSilent(actor: FeedActor, message: FeedSilent): FeedTurn {
  const { state, rows, self } = actor;
  if (wasHeardSince(state, message)) {
    const again = tellTruncation(self.key, begin(feedMachine), state, message.groupKey, message.at);
    return { ...turn(state), sends: again };
  }
  const { parts, stale } = silenceOf(state, rows, message);
  const isCutTooLong = state.value === 'truncated' && message.heardAt < message.cutoff;
  if (stale.length === 0 && !isCutTooLong) return unchanged(state);
  for (const fingerprint of stale) rows.delete(fingerprint);
  return {
    ...turn(step(feedMachine, state, { type: 'silent' }).snapshot),
    sends: partsOf(parts, {
      snapshotId: null,
      receivedAt: message.at,
      late: false,
      integrationId: integrationIdOf(actor),
      feed: self.key,
      groupKey: message.groupKey,
      duplicateWindow: 0,
    }),
    records: stale.length > 0 ? [presencesChanged(actor, [], stale)] : NOTHING,
  };
}

/** Whether a Snapshot came since the Integration looked: then nothing it found holds any more. */
function wasHeardSince({ context }: FeedState, { heardAt }: FeedSilent): boolean {
  return context.windowStart !== null && context.windowStart > heardAt;
}

export interface Silence {
  readonly parts: readonly GroupPart[];
  /** Fingerprints whose presence is stale, and therefore gone from here. */
  readonly stale: readonly string[];
}

/** Does not change `rows`. */
function silenceOf(state: FeedState, rows: FeedRows, message: FeedSilent): Silence {
  const parts = createParts();
  const stale: string[] = [];
  if (!message.stale) return { parts: [], stale };
  for (const presence of rows.values()) {
    if (message.onlyOlderEnds && olderEndOf(presence) === null) continue;
    if (lastListedAt(state, presence, message.heardAt) >= message.cutoff) continue;
    const { fingerprint, groupId } = presence;
    parts.of(groupId).presences.push({ fingerprint, state: 'stale', since: message.at });
    stale.push(fingerprint);
  }
  return { parts: parts.list(), stale };
}

/** A cut list proves nothing of what it leaves out: in a truncated feed its last Snapshot counts for all. */
function lastListedAt(state: FeedState, presence: Presence, heardAt: Micros): Micros {
  if (presence.state === 'listed' || state.value === 'truncated') return heardAt;
  return presence.listedAt ?? presence.since;
}
