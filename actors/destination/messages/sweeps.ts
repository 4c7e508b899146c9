/** Goes through many groups or deliveries, page by page: membership, former targets, what is rendered anew (delivery §10). */
import { HOUR, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { DELETED_ERROR, type DestinationTurn } from '../turn.ts';
import { type Subject, subjectText } from './calls.ts';
import { type Delivery, deliveryKey, isWanted } from './delivery.ts';
import { type Joining, joined, left } from './membership.ts';
import { notDelivered } from './outcomes.ts';
import type { DeliveryReads, OpenGroup } from './ports.ts';
import { takeRead } from './rows.ts';
import { changeState, deliveryOf, hearingOf, save, targetOf } from './turn.ts';
import { changed } from './work.ts';

/** Groups or deliveries of one turn. */
export const SWEEP_PAGE = 200;
/**
 * A group that began while the Route got or lost this Destination may have been missed, or have come after all: it is
 * looked for once more.
 */
const LOOK_AGAIN_AFTER: Micros = 30 * SECOND;
/** By then every replica knows that the Route has this Destination. */
const KNOWN_EVERYWHERE_AFTER: Micros = 10 * SECOND;
/** What a deleted Destination has not sent by then is not sent any more. */
export const LAST_EDITS_FOR: Micros = 24 * HOUR;

export type Sweep = Join | Pass;

/** The Route has this Destination now: its open groups and its Storm are published here. */
interface Join {
  readonly kind: 'join';
  readonly routeId: PublicId;
  readonly after: { readonly urgent: boolean; readonly number: number } | null;
  /** Its time has come. */
  readonly isReady: boolean;
  readonly notBefore: Micros;
  readonly isSecond: boolean;
  /** When the Route got this Destination. */
  readonly since: Micros;
}

/** Deliveries that are not over, of one Route or of all. */
interface Pass {
  /**
   * `leave`: the Route lost this Destination. `leave_targets`: it was pointed elsewhere. `leave_all`: it was deleted, or
   * sends no messages any more. `rerender`: messages may show something else. `end`: nothing is sent any more.
   */
  readonly kind: 'leave' | 'leave_targets' | 'leave_all' | 'rerender' | 'end';
  readonly routeId: PublicId | null;
  readonly after: { readonly subject: string; readonly target: number } | null;
  readonly isReady: boolean;
  readonly notBefore: Micros;
  readonly isSecond: boolean;
}

/** What was read for the first sweep that is ready. */
export interface SweepPage {
  readonly sweep: Sweep;
  readonly groups: readonly OpenGroup[];
  readonly stormSince: Micros | null;
  readonly deliveries: readonly Delivery[];
}

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

/** Reads the page of the sweep that is ready. */
export async function readSweep(
  reads: DeliveryReads,
  destinationId: PublicId,
  sweep: Sweep,
): Promise<SweepPage> {
  if (sweep.kind !== 'join') {
    const { routeId, after } = sweep;
    const deliveries = await reads.open({ destinationId, routeId, after, limit: SWEEP_PAGE });
    return { sweep, groups: [], stormSince: null, deliveries };
  }
  const { routeId, after } = sweep;
  const { groups, stormSince } = await reads.openGroups({ routeId, after, limit: SWEEP_PAGE });
  const storm = stormSince === null ? [] : [subjectText({ kind: 'storm', routeId, since: stormSince })];
  const deliveries = await reads.read(destinationId, [...groups.map(({ groupId }) => groupId), ...storm]);
  return { sweep, groups, stormSince, deliveries };
}

/** The sweep whose page is to be read before the next turn. */
export function readySweep(sweeps: readonly Sweep[]): Sweep | undefined {
  return sweeps.find(({ isReady }) => isReady);
}

/** When a sweep goes on; "at once" is `atOnce`. */
export function sweepsAt(sweeps: readonly Sweep[], atOnce: Micros): Micros | null {
  if (readySweep(sweeps)) return atOnce;
  return sweeps.length === 0 ? null : Math.min(...sweeps.map(({ notBefore }) => notBefore));
}

/** Those whose time has come are read before the next turn. */
export function readySweeps(turn: DestinationTurn): void {
  const { sweeps } = turn.state.messages;
  if (!sweeps.some((sweep) => !sweep.isReady && sweep.notBefore <= turn.now)) return;
  const ready = sweeps.map((sweep) => (sweep.notBefore <= turn.now ? { ...sweep, isReady: true } : sweep));
  changeState(turn, { sweeps: ready });
}

export function takeSweep(turn: DestinationTurn, page: SweepPage): void {
  const { sweep } = page;
  takeRead(turn.rows.messages, page.deliveries, turn.now);
  const count = sweep.kind === 'join' ? page.groups.length : page.deliveries.length;
  const others = turn.state.messages.sweeps.filter((one) => one !== sweep);
  if (others.length === turn.state.messages.sweeps.length) return;
  if (sweep.kind === 'join') join(turn, sweep, page);
  else for (const { subject, target } of page.deliveries) pass(turn, sweep, deliveryKey({ subject, target }));
  changeState(turn, { sweeps: [...others, ...following(turn, sweep, page, count === SWEEP_PAGE)] });
}

function following(turn: DestinationTurn, sweep: Sweep, page: SweepPage, isFull: boolean): Sweep[] {
  const again = { isReady: false, notBefore: turn.now + LOOK_AGAIN_AFTER, isSecond: true, after: null };
  if (sweep.kind === 'join') {
    const last = page.groups.at(-1);
    if (isFull && last) return [{ ...sweep, after: { urgent: last.urgent, number: last.number } }];
    return sweep.isSecond ? [] : [{ ...sweep, ...again }];
  }
  const last = page.deliveries.at(-1);
  if (isFull && last)
    return [{ ...sweep, after: { subject: subjectText(last.subject), target: last.target } }];
  return sweep.kind === 'leave' && !sweep.isSecond ? [{ ...sweep, ...again }] : [];
}

function join(
  turn: DestinationTurn,
  { routeId, after, since }: Join,
  { groups, stormSince }: SweepPage,
): void {
  if (!isOn(turn, routeId)) return;
  if (stormSince !== null && after === null) joinStorm(turn, routeId, stormSince);
  for (const group of groups) {
    const { number, urgent, status, changedAt, startedAt, held } = group;
    // The Route tells of it, as loudly as it began.
    if (startedAt > since + KNOWN_EVERYWHERE_AFTER) continue;
    const subject: Subject = { kind: 'group', groupId: group.groupId };
    joinOne(turn, { subject, routeId, number, urgent, status, changedAt, isHeld: held });
  }
}

function joinStorm(turn: DestinationTurn, routeId: PublicId, since: Micros): void {
  const subject: Subject = { kind: 'storm', routeId, since };
  const shown = { number: null, urgent: false, status: 'storm', changedAt: since, isHeld: false } as const;
  joinOne(turn, { subject, routeId, ...shown });
}

export function joinOne(turn: DestinationTurn, joining: Joining): void {
  const { subject } = joining;
  save(turn, joined(deliveryOf(turn, subject), joining, hearingOf(turn, subject, 0)));
}

function pass(turn: DestinationTurn, sweep: Pass, key: string): void {
  const delivery = turn.rows.messages.byKey.get(key);
  if (!delivery) return;
  switch (sweep.kind) {
    case 'leave':
      if (!isOn(turn, delivery.routeId)) save(turn, left(delivery, turn.now));
      break;
    case 'leave_targets':
      if (delivery.target < targetOf(turn)) save(turn, left(delivery, turn.now));
      break;
    case 'leave_all':
      save(turn, left(delivery, turn.now));
      break;
    case 'rerender':
      if (delivery.message && !delivery.ended) save(turn, changed(delivery, turn.now));
      break;
    case 'end':
      if (isWanted(delivery) && !delivery.call) {
        notDelivered(turn, { ...delivery, replies: [] }, null, DELETED_ERROR);
      }
      break;
  }
}

/** Whether a live Route has this Destination. */
export function isOn({ id, directory, config }: DestinationTurn, routeId: PublicId): boolean {
  if (!config) return false;
  return directory.routesById.get(routeId)?.destinationIds.includes(id) ?? false;
}
