/** The turn of a feed that hears a Snapshot (ingestion §6). */
import { step, type TurnEnv } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import { compare, type Hearing } from './compare.ts';
import { NO_COUNTS } from './effects.ts';
import { type FeedState, feedMachine } from './machine.ts';
import type { SnapshotReceived } from './messages.ts';
import { homeIn, isLostIn, type Surroundings, targetIn } from './prepare.ts';
import type { Teller } from './reports.ts';
import type { Snapshot } from './snapshot.ts';
import { type TellSample, tellTruncation } from './tell-integration.ts';
import {
  type FeedActor,
  type FeedTurn,
  heard,
  keep,
  recordsOf,
  report,
  sendsOf,
  settled,
  turn,
} from './turn.ts';
import { judgeWindow, VERIFICATION_INTERVAL, type WindowVerdict } from './window.ts';

export function hear(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  teller: Teller,
  tellSample: TellSample,
): FeedTurn {
  const { snapshot, receivedAt } = message;
  const duplicateWindow = windowOf(teller);
  const verdict = verdictOn(actor.state, message, teller);
  const surroundings = env.prepared as Surroundings | undefined;
  const verified = surroundings?.verified === true;
  if (!verified && isKnown(actor.state, snapshot, teller, verdict)) {
    return repeat(actor, message, env, teller, verdict, tellSample);
  }

  const truncated = isTruncated(snapshot);
  const comparison = compare(snapshot, actor.rows, {
    ...hearingOf(actor.state, verdict, receivedAt, duplicateWindow, truncated),
    edition: teller.edition,
    tell: teller.tell,
    home: (fingerprint) => homeIn(surroundings, fingerprint),
    target: (fingerprint) => targetIn(surroundings, fingerprint),
    isLost: (fingerprint) => isLostIn(surroundings, fingerprint, receivedAt),
  });
  const { snapshot: state } = step(feedMachine, actor.state, {
    type: 'snapshot',
    receivedAt,
    duplicateWindow,
    replayed: message.replayed,
    alertSet: snapshot.alertSet,
    truncated,
    complete: comparison.complete,
    digest: comparison.certain ? snapshot.digest + teller.edition : null,
    verified,
  });
  keep(actor.rows, comparison);
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
 * while the window lasts, and later, too, when every Alert present is listed and nothing that ended.
 */
export function isKnown(
  state: FeedState,
  snapshot: Snapshot,
  teller: Teller,
  verdict: WindowVerdict,
): boolean {
  if (state.context.digest !== snapshot.digest + teller.edition) return false;
  return verdict === 'same' || state.value === 'steady';
}

/**
 * Whether a Snapshot is the one with which a feed looks whether what it relies on still holds. Only one that opens a
 * window is, and now and then: a message that was set aside as a defect would otherwise be missing for good.
 */
export function mustVerify({ context }: FeedState, receivedAt: Micros, verdict: WindowVerdict): boolean {
  if (verdict !== 'opens') return false;
  return context.verifiedAt === null || receivedAt - context.verifiedAt >= VERIFICATION_INTERVAL;
}

function windowOf(teller: Teller): Micros {
  return teller.integration.duplicateWindowSeconds * SECOND;
}

export function verdictOn(
  state: FeedState,
  { receivedAt, replayed }: SnapshotReceived,
  teller: Teller,
): WindowVerdict {
  const duplicateWindow = windowOf(teller);
  return judgeWindow(state.context.windowStart, { receivedAt, duplicateWindow, replayed });
}

/** A Snapshot that repeats the last one. Inside a window it moves nothing but the time the feed was heard. */
function repeat(
  actor: FeedActor,
  message: SnapshotReceived,
  env: TurnEnv,
  teller: Teller,
  verdict: WindowVerdict,
  tellSample: TellSample,
): FeedTurn {
  const { receivedAt, snapshot } = message;
  const state =
    verdict === 'opens'
      ? step(feedMachine, actor.state, {
          type: 'snapshot',
          receivedAt,
          duplicateWindow: windowOf(teller),
          replayed: false,
          alertSet: snapshot.alertSet,
          truncated: false,
          complete: true,
          digest: snapshot.digest + teller.edition,
          verified: false,
        }).snapshot
      : actor.state;
  return {
    ...turn(state),
    sends: tellSample(actor.self.key, actor.state, message, verdict),
    records: [settled(message, env, null), heard(actor, message)],
    performs: [report(actor, message, NO_COUNTS, null, verdict === 'late')],
  };
}

function hearingOf(
  state: FeedState,
  verdict: WindowVerdict,
  receivedAt: Micros,
  duplicateWindow: Micros,
  truncated: boolean,
): Pick<
  Hearing,
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
