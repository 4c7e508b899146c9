/** How a Broken Destination is tried (delivery §7.4, webhooks §4.5). */
import type { Micros } from '../../../runtime/clock.ts';
import type { DestinationProbe, SendFinished } from '../../channels/calls.ts';
import { recovered, unavailable } from '../health.ts';
import { CALL_LOST_AFTER, unreadPause } from '../pacing.ts';
import { apply, type DestinationTurn, isBroken, isDeleted } from '../turn.ts';
import { begin, nextCall, probeName } from './begin.ts';
import {
  callEnded,
  hasGrant,
  hasOwnToken,
  holdFor,
  isAsked,
  needsGrant,
  returnGrant,
  returnOwnToken,
  takeOwnToken,
} from './tokens.ts';
import { changeState } from './turn.ts';
import { rootWork } from './work.ts';

/** Tries a Broken Destination: by its check, or without a Connection by the oldest Publication or edit. */
export function probe(turn: DestinationTurn): void {
  const { probe: running, nextProbeAt } = turn.state.snapshot.context;
  const { place } = turn.state.messages;
  if (!place || running !== null || nextProbeAt === null || nextProbeAt > turn.now) return;
  if (place.connectionId === null) {
    probeBySending(turn);
    return;
  }
  if (!hasOwnToken(turn) || !hasGrant(turn, place.connectionId, false, () => 1)) return;
  takeOwnToken(turn);
  const call = nextCall(turn);
  const tookToken = needsGrant(turn, place.connectionId);
  const { connectionId } = place;
  changeState(turn, { probe: { call, lostAt: turn.now + CALL_LOST_AFTER, tookToken, connectionId } });
  const perform: DestinationProbe = {
    type: 'message.probe',
    destinationId: turn.id,
    call,
    connectionId,
  };
  turn.performs.push(perform);
  apply(turn, { type: 'probe_started', probe: probeName(call) });
}

/** By the oldest event, Publication or edit that waits. What has no Connection has one queue. */
function probeBySending(turn: DestinationTurn): void {
  const { agendas, byKey } = turn.rows.messages;
  const key = agendas.get('')?.oldest(turn.now);
  const delivery = key === undefined ? undefined : byKey.get(key);
  const work = delivery && rootWork(delivery);
  if (!work || !hasOwnToken(turn)) return;
  takeOwnToken(turn);
  apply(turn, { type: 'probe_started', probe: begin(turn, delivery, work, true) });
}

/** When a Broken Destination is tried next; null while a probe is under way, or nothing is there to try it by. */
export function probeAt(turn: DestinationTurn): Micros | null {
  const { probe: running, nextProbeAt } = turn.state.snapshot.context;
  const { place, behindUntil } = turn.state.messages;
  if (!place || running !== null || nextProbeAt === null) return null;
  const due =
    place.connectionId === null
      ? (turn.rows.messages.agendas.get('')?.oldestDueAt(turn.now) ?? null)
      : nextProbeAt;
  if (due === null || (place.connectionId !== null && isAsked(turn, place.connectionId))) return null;
  return Math.max(nextProbeAt, due, behindUntil ?? 0);
}

/** Nobody waits for the probe any more, if one is under way. */
export function probeEnded(turn: DestinationTurn): void {
  const { probe, place } = turn.state.messages;
  if (!probe) return;
  callEnded(turn, probe.connectionId ?? place?.connectionId ?? null, probe.tookToken);
  changeState(turn, { probe: null });
}

/** What the check came to. */
export function probeFinished(turn: DestinationTurn, { outcome }: SendFinished): void {
  const { probe, place } = turn.state.messages;
  const isReturned = ['unchanged', 'dropped', 'not_sent'].includes(outcome.class);
  if (isReturned) {
    changeState(turn, { probe: null });
    returnOwnToken(turn);
    const through = probe?.connectionId ?? place?.connectionId;
    if (through && probe?.tookToken) returnGrant(turn, through);
  } else probeEnded(turn);
  if (isDeleted(turn) || !isBroken(turn)) return;
  switch (outcome.class) {
    case 'ok':
      recovered(turn);
      break;
    case 'unchanged':
    case 'dropped':
    case 'not_sent':
      apply(turn, { type: 'probe_lost', at: turn.now + unreadPause(1) });
      break;
    case 'retry_after': {
      const { until, scope, error } = outcome;
      holdFor(turn, place?.connectionId ?? null, scope, until);
      apply(turn, { type: 'probe_failed', reason: unavailable(error), at: turn.now, notBefore: until });
      break;
    }
    case 'transient':
      probeFailed(turn, unavailable(outcome.error));
      break;
    default:
      probeFailed(turn, outcome.error);
  }
}

export function probeFailed(turn: DestinationTurn, reason: string): void {
  apply(turn, { type: 'probe_failed', reason, at: turn.now, notBefore: 0 });
}
