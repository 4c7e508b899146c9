/** Goes through many groups or deliveries, page by page: membership, former targets, what is rendered anew (delivery §10). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Subject, subjectText } from '../../channels/calls.ts';
import { tellHealth } from '../health.ts';
import { DELETED_ERROR, type DestinationTurn } from '../turn.ts';
import { type Joining, joined } from './apply-event.ts';
import { type Delivery, deliveryKey, isOver, isWanted } from './delivery.ts';
import { next } from './machine.ts';
import { notDelivered } from './outcomes.ts';
import type { DeliveryReads, OpenGroup } from './ports.ts';
import type { Join, Pass, Sweep } from './state.ts';
import { changeState, deliveryOf, eventContextOf, save, targetOf } from './turn.ts';

/** Groups or deliveries of one turn. */
export const SWEEP_PAGE = 200;
/**
 * A group that began while the Route got or lost this Destination may have been missed, or have come after all: it is
 * looked for once more.
 */
const LOOK_AGAIN_AFTER: Micros = 30 * SECOND;
/** By then every replica knows that the Route has this Destination. */
const KNOWN_EVERYWHERE_AFTER: Micros = 10 * SECOND;

/** What was read for the first sweep that is ready. */
export interface SweepPage {
  readonly sweep: Sweep;
  readonly groups: readonly OpenGroup[];
  readonly stormSince: Micros | null;
  readonly deliveries: readonly Delivery[];
}

/** Reads the page of the sweep that is ready. */
export async function readSweep(
  reads: DeliveryReads,
  destinationId: PublicId,
  sweep: Sweep,
): Promise<SweepPage> {
  if (sweep.kind === 'tell') {
    const deliveries = await reads.waiting({ destinationId, after: sweep.after, limit: SWEEP_PAGE });
    return { sweep, groups: [], stormSince: null, deliveries };
  }
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

/** What a sweep changes is held in memory; whoever is only told something is not. */
export function heldOf({ sweep, deliveries }: SweepPage): readonly Delivery[] {
  return sweep.kind === 'tell' ? [] : deliveries;
}

export function takeSweep(turn: DestinationTurn, page: SweepPage): void {
  const { sweep } = page;
  const count = sweep.kind === 'join' ? page.groups.length : page.deliveries.length;
  const others = turn.state.messages.sweeps.filter((one) => one !== sweep);
  if (others.length === turn.state.messages.sweeps.length) return;
  if (sweep.kind === 'join') join(turn, sweep, page);
  else if (sweep.kind === 'tell') for (const delivery of page.deliveries) tellHealth(turn, delivery);
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
  if (sweep.kind === 'tell') turn.rows.messages.told.clear();
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
  save(turn, joined(deliveryOf(turn, subject), joining, eventContextOf(turn, subject, 0)));
}

function pass(turn: DestinationTurn, sweep: Pass, key: string): void {
  const delivery = turn.rows.messages.byKey.get(key);
  if (!delivery) return;
  const left = { type: 'left', now: turn.now } as const;
  switch (sweep.kind) {
    case 'leave':
      if (!isOn(turn, delivery.routeId)) save(turn, next(delivery, left));
      break;
    case 'leave_targets':
      if (delivery.target < targetOf(turn)) save(turn, next(delivery, left));
      break;
    case 'leave_all':
      save(turn, next(delivery, left));
      break;
    case 'rerender':
      renderAnew(turn, delivery);
      break;
    case 'end':
      if (isWanted(delivery) && !delivery.call) {
        notDelivered(turn, delivery, null, DELETED_ERROR);
      }
      break;
  }
}

/** A Publication that is under way was made with what was there before. */
export function renderAnew(turn: DestinationTurn, delivery: Delivery | undefined): void {
  if (!delivery || delivery.events || isOver(delivery)) return;
  if (delivery.message || delivery.call?.kind === 'publish')
    save(turn, next(delivery, { type: 'changed', now: turn.now }));
}

/** Whether a live Route has this Destination. */
export function isOn({ id, directory, config }: DestinationTurn, routeId: PublicId): boolean {
  if (!config) return false;
  return directory.routesById.get(routeId)?.destinationIds.includes(id) ?? false;
}
