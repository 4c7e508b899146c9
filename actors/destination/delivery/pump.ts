/** Begins the calls that may begin now: in order, within the limiters, few at a time (delivery §3, §6). */
import type { Micros } from '../../../runtime/clock.ts';
import { subjectText } from '../../channels/calls.ts';
import { callsAhead, mostStarted } from '../pacing.ts';
import { type DestinationTurn, isBroken } from '../turn.ts';
import { begin } from './begin.ts';
import { next } from './machine.ts';
import { isPastWindow } from './machine-parts.ts';
import { probe, probeAt } from './probing.ts';
import { CALLS_AT_ONCE } from './rows.ts';
import { repeatsSafely, takesMessages } from './state.ts';
import { hasGrant, hasOwnToken, isAsked, ownTokens, takeOwnToken } from './tokens.ts';
import { save } from './turn.ts';
import { nextWork } from './work.ts';

export function pumpMessages(turn: DestinationTurn): void {
  if (isBroken(turn)) {
    probe(turn);
    return;
  }
  pumpThrough(turn, presentOf(turn));
  for (const connectionId of turn.rows.messages.agendas.keys())
    if (mayBegin(turn, connectionId)) pumpThrough(turn, connectionId);
}

function presentOf({ state }: DestinationTurn): string {
  return state.messages.place?.connectionId ?? '';
}

/**
 * Whether calls through this Connection have their turn. Last edits through a former one come one by one, while nothing
 * is due through the present one: a place that was left perhaps fails, and takes nobody's turn.
 */
function mayBegin(turn: DestinationTurn, connectionId: string): boolean {
  const present = presentOf(turn);
  if (connectionId === present) return true;
  // What is to be done at either place is still being read.
  if (turn.state.messages.sweeps.some(({ isReady }) => isReady)) return false;
  const { agendas, byKey, flights } = turn.rows.messages;
  if (agendas.get(present)?.next(turn.now) !== undefined) return false;
  return ![...flights.values()].some((key) => (byKey.get(key)?.connectionId ?? '') !== present);
}

function pumpThrough(turn: DestinationTurn, connectionId: string): void {
  const { agendas, byKey, flights, pressed } = turn.rows.messages;
  const agenda = agendas.get(connectionId);
  for (let key = agenda?.next(turn.now); key; key = agenda?.next(turn.now)) {
    const delivery = byKey.get(key);
    const work = delivery && nextWork(delivery, pressed.get(subjectText(delivery.subject)));
    if (!work) throw new Error(`delivery ${key} stands on the agenda with nothing to do`);
    if (work.kind === 'edit' && isPastWindow(delivery, turn.now)) {
      save(turn, next(delivery, { type: 'window_closed', now: turn.now }));
      continue;
    }
    if (!mayBegin(turn, connectionId) || flights.size >= mostBegun(turn) || !hasOwnToken(turn)) return;
    const isPresent = connectionId === presentOf(turn);
    const count = () => (isPresent ? dueAtOnce(turn, agenda?.keys() ?? []) : 1);
    if (!hasGrant(turn, delivery.connectionId, delivery.urgent, count)) return;
    takeOwnToken(turn);
    begin(turn, delivery, work, false);
  }
}

/** How many of these deliveries may begin a call together, at least one. */
function dueAtOnce(turn: DestinationTurn, keys: Iterable<string>): number {
  const { byKey, flights, pressed } = turn.rows.messages;
  const most = Math.min(mostBegun(turn) - flights.size, ownTokens(turn));
  let due = 0;
  for (const key of keys) {
    if (due >= most) break;
    const delivery = byKey.get(key);
    const work = delivery && nextWork(delivery, pressed.get(subjectText(delivery.subject)));
    if (work && work.dueAt <= turn.now) due++;
  }
  return Math.max(1, due);
}

/** When something may begin next by itself; null while nothing waits but for answers. */
export function nextCallAt(turn: DestinationTurn): Micros | null {
  if (isBroken(turn)) return probeAt(turn);
  const { agendas, flights } = turn.rows.messages;
  if (flights.size >= mostBegun(turn)) return null;
  let first: Micros | null = null;
  for (const [connectionId, agenda] of agendas) {
    const due = mayBegin(turn, connectionId) ? agenda.dueAt() : null;
    if (due === null || (due <= turn.now && isAsked(turn, connectionId))) continue;
    first = Math.min(first ?? Number.POSITIVE_INFINITY, due);
  }
  return first === null ? null : Math.max(first, turn.state.messages.behindUntil ?? 0);
}

/**
 * How many calls may be begun and not over. While answers come quickly some are begun ahead, so that a messenger does not
 * wait for the commit that begins each. One that knows no keys gets none: after a crash each would be repeated as if it
 * had been made.
 */
function mostBegun({ state, rows, limiter }: DestinationTurn): number {
  const { place } = state.messages;
  if (place && !takesMessages(place)) return mostStarted(limiter);
  if (!repeatsSafely(place)) return CALLS_AT_ONCE;
  return Math.max(CALLS_AT_ONCE, Math.min(rows.messages.pace, callsAhead(limiter)));
}
