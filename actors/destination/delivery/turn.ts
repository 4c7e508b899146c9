/**
 * The deliveries of a Destination within one turn: changed here, recorded and told at its end; and what it still has to
 * go through page by page, kept with its state (delivery §7.4, §10).
 */
import { HOUR, type Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Subject } from '../../channels/calls.ts';
import type { DeliveryHappened } from '../effects.ts';
import { type DestinationTurn, isBroken, recordFirst } from '../turn.ts';
import type { EventContext } from './apply-event.ts';
import {
  type Delivery,
  deliveryKey,
  errorOf,
  isOpenSubject,
  isOver,
  isProblem,
  isWanted,
  stateOf,
} from './delivery.ts';
import { find, forgetIdle, hold, publicationsBefore } from './rows.ts';
import type { MessageState, Pass, Sweep, Telling } from './state.ts';

export function changeState(turn: DestinationTurn, change: Partial<MessageState>): void {
  turn.state = { ...turn.state, messages: { ...turn.state.messages, ...change } };
}

/** The delivery of a subject where new messages go. */
export function deliveryOf(turn: DestinationTurn, subject: Subject): Delivery | undefined {
  return find(turn.rows.messages, subject, targetOf(turn));
}

export function targetOf({ state }: DestinationTurn): number {
  return state.messages.place?.target ?? 1;
}

export function eventContextOf(turn: DestinationTurn, subject: Subject, window: Micros): EventContext {
  const target = targetOf(turn);
  return {
    now: turn.now,
    isBroken: isBroken(turn),
    window,
    target,
    connectionId: turn.state.messages.place?.connectionId ?? null,
    publication: publicationsBefore(turn.rows.messages, subject, target),
  };
}

/** Puts a delivery as it is from now on. */
export function save(turn: DestinationTurn, delivery: Delivery): void {
  const key = deliveryKey(delivery);
  const { byKey } = turn.rows.messages;
  const known = byKey.get(key);
  if (known === delivery) return;
  if (!turn.messages.before.has(key)) turn.messages.before.set(key, known);
  const renewedAt = Math.max(delivery.renewedAt, turn.state.messages.recoveredAt);
  hold(turn.rows.messages, { ...delivery, renewedAt }, turn.now);
}

/** Something for the Timeline of the delivery's group. */
export function tell(turn: DestinationTurn, delivery: Delivery, telling: Telling): void {
  turn.messages.told.push({ key: deliveryKey(delivery), telling });
}

export function perform(
  turn: DestinationTurn,
  happened: Omit<DeliveryHappened, 'type' | 'destinationId'>,
): void {
  const effect: DeliveryHappened = { type: 'delivery.happened', destinationId: turn.id, ...happened };
  turn.performs.push(effect);
}

/** Records what changed and tells the groups concerned. */
export function finishMessages(turn: DestinationTurn): void {
  const { before, told } = turn.messages;
  for (const [key, was] of before) {
    const delivery = turn.rows.messages.byKey.get(key);
    if (!delivery || delivery === was) continue;
    if (delivery.events) {
      recordFirst(turn, was, delivery);
      continue;
    }
    record(turn, delivery);
    const tellings = told.filter((one) => one.key === key).map(({ telling }) => telling);
    inform(turn, was, delivery, tellings);
  }
  forgetIdle(turn.rows.messages, turn.now);
}

function record(turn: DestinationTurn, delivery: Delivery): void {
  turn.records.push({
    type: 'delivery.saved',
    destinationId: turn.id,
    delivery,
    state: stateOf(delivery),
    isOpen: isOpenSubject(delivery) && !isOver(delivery),
    error: errorOf(delivery),
    wanted: isWanted(delivery),
    at: turn.now,
  });
}

function inform(
  turn: DestinationTurn,
  before: Delivery | undefined,
  delivery: Delivery,
  tellings: readonly Telling[],
): void {
  const { subject } = delivery;
  const groupId = subject.kind === 'group' ? subject.groupId : null;
  if (!before || stateOf(before) !== stateOf(delivery))
    perform(turn, { groupId, event: 'state', error: null });
  for (const telling of tellings) logged(turn, groupId, telling);
  if (groupId === null) return;
  // A message at a former target is not shown among the deliveries of the group.
  const isShown = delivery.target === targetOf(turn);
  const problem = isShown ? isProblem(delivery, isBroken(turn)) : null;
  const had = before !== undefined && isProblem(before, isBroken(turn));
  for (const telling of tellings) noteGroup(turn, groupId, telling, problem);
  if (tellings.length > 0 || problem === null || problem === had) return;
  const waits = problem && stateOf(delivery) === 'pending' && isBroken(turn);
  if (waits && isToldBroken(turn, groupId)) return;
  if (waits && isTelling(turn)) turn.rows.messages.told.add(deliveryKey(delivery));
  const reason = turn.state.snapshot.context.reason;
  noteGroup(turn, groupId, waits ? { event: 'destination_broken', error: reason } : null, problem);
}

/** Waiting groups are still told, page by page, how the Destination is now. */
function isTelling({ state }: DestinationTurn): boolean {
  return state.messages.sweeps.some(({ kind }) => kind === 'tell');
}

/** Whoever waited when the Destination broke is told by that. */
function isToldBroken({ rows }: DestinationTurn, groupId: PublicId): boolean {
  return rows.notes.some((note) => note.groupId === groupId && note.event === 'destination_broken');
}

/** Tells a group; null: only that it has a problem here, or has it no more. */
export function noteGroup(
  turn: DestinationTurn,
  groupId: PublicId,
  telling: Telling | null,
  problem: boolean | null,
): void {
  const { event = null, error = null, loudness = 'quiet', mentions = [] } = telling ?? {};
  turn.rows.notes.push({ groupId, event, error, loudness, mentions, problem, at: turn.now });
}

const LOGGED = ['storm_summary', 'not_delivered', 'deleted_in_messenger', 'possible_duplicate'] as const;

function logged(turn: DestinationTurn, groupId: PublicId | null, { event, error = null }: Telling): void {
  const worth = LOGGED.find((one) => one === event);
  if (worth) perform(turn, { groupId, event: worth, error });
}

/** What a deleted Destination has not sent by then is not sent any more. */
export const LAST_EDITS_FOR: Micros = 24 * HOUR;

export function addJoin(turn: DestinationTurn, routeId: PublicId): void {
  const begun = { after: null, isReady: true, notBefore: 0, isSecond: false };
  add(turn, { kind: 'join', routeId, ...begun, since: turn.now });
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
