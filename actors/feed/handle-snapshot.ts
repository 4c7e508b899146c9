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
    reason: snapshot.notificationReason,
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
      ...sendsOf(actor, message, comparison, verdict, duplicateWindow, surroundings?.fresh),
      ...tellTruncation(actor.self.key, actor.state, state, snapshot.groupKey, receivedAt),
      ...tellSample(actor.self.key, actor.state, state, snapshot.groupKey),
    ],
    records: recordsOf(actor, message, env, comparison),
    performs: [report(actor, message, comparison.counts, null, verdict === 'late')],
  };
}

/**
 * Whether a Snapshot with the same content as the last one changes nothing: within the window while no absence has
 * become long enough, and after it when the Snapshot lists every present Alert and no ended one.
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
 * Whether a feed verifies its presences with this Snapshot. Only a Snapshot that opens a window does, once per
 * {@link VERIFICATION_INTERVAL}: otherwise a message that was set aside as a defect would stay missing.
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

/** Handles a Snapshot that repeats the last one. Within a window only the feed's receipt time changes. */
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
          reason: snapshot.notificationReason,
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
    sends: tellSample(actor.self.key, actor.state, state, snapshot.groupKey),
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

/** A Snapshot that resolves the whole group ends truncation, however many Alerts it cut (ingestion §6.4). */
function isTruncated(snapshot: Snapshot): boolean {
  return snapshot.truncatedAlerts > 0 && snapshot.status === 'firing';
}

/**
 * The Integration received nothing from this feed for too long: its presences become stale as of the check, their
 * homes are notified, and a truncated list no longer counts. When a newer Snapshot arrived first, the Integration may
 * no longer know that the feed is truncated.
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

/** Whether a Snapshot arrived after the Integration's check, which invalidates the result of the check. */
function wasHeardSince({ context }: FeedState, { heardAt }: FeedSilent): boolean {
  return context.windowStart !== null && context.windowStart > heardAt;
}

export interface Silence {
  readonly parts: readonly GroupPart[];
  /** Fingerprints whose presence is stale and therefore removed from this feed. */
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

/** A truncated list is no evidence of absence: in a truncated feed the last Snapshot counts for every Alert. */
function lastListedAt(state: FeedState, presence: Presence, heardAt: Micros): Micros {
  if (presence.state === 'listed' || state.value === 'truncated') return heardAt;
  return presence.listedAt ?? presence.since;
}
