/** What a Destination still has to go through page by page, kept with its state (delivery §7.4, §10). */
import { HOUR, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { DestinationTurn } from '../turn.ts';
import type { Pass, Sweep } from './state.ts';
import { changeState } from './turn.ts';

/** What a deleted Destination has not sent by then is not sent any more. */
export const LAST_EDITS_FOR: Micros = 24 * HOUR;

export function addJoin(turn: DestinationTurn, routeId: PublicId): void {
  add(turn, {
    kind: 'join',
    routeId,
    after: null,
    isReady: true,
    notBefore: 0,
    isSecond: false,
    since: turn.now,
  });
}

export function addPass(
  turn: DestinationTurn,
  kind: Pass['kind'],
  routeId: PublicId | null,
  notBefore: Micros = 0,
): void {
  add(turn, { kind, routeId, after: null, isReady: notBefore === 0, notBefore, isSecond: false });
}

/** A new one of a kind starts over for an older one. */
function add(turn: DestinationTurn, sweep: Sweep): void {
  const others = turn.state.messages.sweeps.filter(
    ({ kind, routeId }) => kind !== sweep.kind || routeId !== sweep.routeId,
  );
  changeState(turn, { sweeps: [...others, sweep] });
}

/**
 * The sweep whose page is to be read before the next turn.
 * @param hasNotes groups are still to be told what was found before: a page that is told is told in its own turn
 */
export function readySweep(sweeps: readonly Sweep[], hasNotes: boolean): Sweep | undefined {
  return sweeps.find(({ kind, isReady }) => isReady && !(kind === 'tell' && hasNotes));
}

/** When a sweep goes on; "at once" is `atOnce`. */
export function sweepsAt(sweeps: readonly Sweep[], atOnce: Micros): Micros | null {
  if (sweeps.some(({ isReady }) => isReady)) return atOnce;
  return sweeps.length === 0 ? null : Math.min(...sweeps.map(({ notBefore }) => notBefore));
}

/** Those whose time has come are read before the next turn. */
export function readySweeps(turn: DestinationTurn): void {
  const { sweeps } = turn.state.messages;
  if (!sweeps.some((sweep) => !sweep.isReady && sweep.notBefore <= turn.now)) return;
  const ready = sweeps.map((sweep) => (sweep.notBefore <= turn.now ? { ...sweep, isReady: true } : sweep));
  changeState(turn, { sweeps: ready });
}
