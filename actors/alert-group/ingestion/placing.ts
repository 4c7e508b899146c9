/** Where new firings go, and what of a part other groups are sent (alert-groups §2, ingestion §5.1). */
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { Directory, RouteConfig } from '../../directory.ts';
import { alertKey, type Labels, type Slot } from '../../model.ts';
import { slotFor } from '../../route/evaluate.ts';
import {
  alertGroupAddress,
  type FiringEntry,
  type PresenceChange,
  type ResolvedEntry,
  type SnapshotPart,
  type Withdrawal,
} from '../messages.ts';
import { type LookedUpSlots, type Outside, slotKey } from '../ports.ts';
import type { GroupAlert } from '../rows.ts';
import { contextOf, type GroupState, isMoved, isOpen, isResolvedBySystem } from '../state.ts';
import type { GroupTurn } from '../turn.ts';

/** What a group does with new firings of its own Slot. */
export type Acceptance = 'create' | 'join' | 'reopen' | 'none';

/**
 * Judges a group as a target for Alerts received at `receivedAt` µs: open and not moved, or resolved by the system and
 * within its Reopen window while its Route exists and no other group took its place.
 */
export function acceptanceOf(state: GroupState, receivedAt: Micros, directory: Directory): Acceptance {
  if (state.stage === 'unstarted') return 'create';
  if (isMoved(state)) return 'none';
  if (isOpen(state)) return 'join';
  // A newer group follows it: what was received before and is handled only now belongs there.
  if (state.successorId !== null) return 'none';
  const { reopenDeadline } = contextOf(state);
  const reopens = isResolvedBySystem(state) && reopenDeadline !== null && receivedAt < reopenDeadline;
  return reopens && isLive(state.slot.routeId, directory) ? 'reopen' : 'none';
}

/**
 * The same in a turn that may have read what the Slot names: Unresolve may have given it to another group while new
 * firings were on their way to one that is not open.
 */
export function acceptanceIn(
  { state, groupId, directory }: GroupTurn,
  slot: Slot,
  receivedAt: Micros,
  lookedUp: LookedUpSlots,
): Acceptance {
  const named = lookedUp.targets.get(slotKey(slot)) ?? groupId;
  const isTaken = named !== groupId && !(state.stage === 'started' && isOpen(state));
  return isTaken ? 'none' : acceptanceOf(state, receivedAt, directory);
}

export function isLive(routeId: string, directory: Directory): boolean {
  return directory.routesById.get(routeId)?.deleted === false;
}

/** The Route, or the Default route once it is deleted (routes §5 rule 6, §8). */
export function liveRoute(routeId: string, directory: Directory): RouteConfig {
  const route = directory.routesById.get(routeId);
  if (route && !route.deleted) return route;
  const last = directory.routes.at(-1);
  if (!last) throw new Error('the directory has no Default route');
  return last;
}

/** The Slot itself while its Route exists, else the one these labels have on the Default route. */
export function liveSlot(slot: Slot, labels: Labels, directory: Directory): Slot {
  if (isLive(slot.routeId, directory)) return slot;
  return slotFor(liveRoute(slot.routeId, directory), labels);
}

export function sameSlot(left: Slot, right: Slot): boolean {
  return left.routeId === right.routeId && left.keyHash === right.keyHash;
}

/**
 * The Alert Group that takes new firings of this group's Slot in its place: the one that is known, else the one that
 * the Slot was found to name, else a fresh address, which the Slot names from this commit on.
 */
export function successorOf(turn: GroupTurn, lookedUp: LookedUpSlots): PublicId {
  const { successorId, slot } = turn.group;
  if (successorId) return successorId;
  const named = lookedUp.targets.get(slotKey(slot));
  const isOther = named !== undefined && named !== turn.groupId;
  const groupId = isOther ? named : turn.randomId('AG');
  turn.succeedBy(groupId);
  if (!isOther) moveSlot(turn, slot, turn.groupId, groupId);
  return groupId;
}

/** Makes a group that was opened again the one that its Slot names. */
export function reclaimSlot(turn: GroupTurn, lookedUp: LookedUpSlots): void {
  if (isMoved(turn.group)) return;
  const { slot, successorId } = turn.group;
  const named = lookedUp.targets.get(slotKey(slot)) ?? null;
  if (named !== turn.groupId) moveSlot(turn, slot, named, turn.groupId);
  if (successorId) turn.succeedBy(null);
}

function moveSlot(turn: GroupTurn, slot: Slot, fromGroupId: PublicId | null, groupId: PublicId): void {
  const { routeId, keyHash } = slot;
  turn.record({ type: 'slot.moved', routeId, keyHash, groupId, fromGroupId });
}

/** Whether a group that takes no new firings does not know yet who does. */
export function lacksSuccessor(state: GroupState, receivedAt: Micros, directory: Directory): boolean {
  if (state.stage === 'unstarted' || state.successorId) return false;
  return acceptanceOf(state, receivedAt, directory) === 'none';
}

/**
 * The Alert Group that another Slot names. A Slot that was read before the turn and names none gets a new address. Null
 * when the Slot was not read.
 */
export function targetOf(turn: GroupTurn, slot: Slot, lookedUp: LookedUpSlots): PublicId | null {
  const key = slotKey(slot);
  if (!lookedUp.asked.has(key)) return null;
  const named = lookedUp.targets.get(key) ?? turn.freshTargets.get(key);
  if (named) return named;
  const groupId = turn.randomId('AG');
  turn.freshTargets.set(key, groupId);
  moveSlot(turn, slot, null, groupId);
  return groupId;
}

/** Collects what of a part belongs to other Alert Groups and sends each of them its share (ingestion §5.1 rule 2). */
interface Share {
  readonly firing: FiringEntry[];
  readonly resolved: ResolvedEntry[];
  readonly groupWideResolved: string[];
  readonly withdrawn: Withdrawal[];
  readonly presences: PresenceChange[];
}

export class PassedOn {
  readonly #turn: GroupTurn;
  readonly #part: SnapshotPart;
  readonly #outside: Outside;
  readonly #shares = new Map<PublicId, Share>();

  constructor(turn: GroupTurn, part: SnapshotPart, outside: Outside) {
    this.#turn = turn;
    this.#part = part;
    this.#outside = outside;
  }

  /**
   * Forwards a new firing that this group does not accept to its successor, or to the group that another Slot names.
   */
  entry(entry: FiringEntry, ownSlot: boolean): void {
    // Without the Slot the group sends the entry to itself: the next turn reads the Slot first.
    const target =
      ownSlot && this.#turn.state.stage === 'started'
        ? successorOf(this.#turn, this.#outside.slots)
        : (targetOf(this.#turn, entry.slot, this.#outside.slots) ?? this.#turn.groupId);
    this.entryTo(target, entry);
  }

  entryTo(target: PublicId, entry: FiringEntry): void {
    this.#shareOf(target).firing.push(entry);
  }

  /**
   * Forwards a resolve of an Alert that does not fire here.
   * @returns whether another group can evaluate it
   */
  resolved(entry: ResolvedEntry, alert: GroupAlert | undefined): boolean {
    const target = this.#homeOf(entry.fingerprint, alert);
    if (target) this.#shareOf(target).resolved.push(entry);
    return target !== null;
  }

  groupWide(fingerprint: string, alert: GroupAlert | undefined): void {
    const target = this.#homeOf(fingerprint, alert);
    if (target) this.#shareOf(target).groupWideResolved.push(fingerprint);
  }

  withdrawal(withdrawal: Withdrawal, alert: GroupAlert | undefined): void {
    const target = this.#homeOf(withdrawal.fingerprint, alert);
    if (target) this.#shareOf(target).withdrawn.push(withdrawal);
  }

  /** @returns whether another group receives it */
  presence(change: PresenceChange, alert: GroupAlert | undefined): boolean {
    const target = this.#homeOf(change.fingerprint, alert);
    if (target) this.#shareOf(target).presences.push(change);
    return target !== null;
  }

  send(): void {
    for (const [target, share] of this.#shares) {
      const message: SnapshotPart = { ...this.#part, ...share, hops: this.#part.hops + 1 };
      this.#turn.send({ to: alertGroupAddress(target), message });
    }
  }

  /** Where an Alert that once was here, or never was, may fire now. */
  #homeOf(fingerprint: string, alert: GroupAlert | undefined): PublicId | null {
    const found = this.#outside.homes.get(alertKey(this.#part.integrationId, fingerprint));
    if (found && found !== this.#turn.groupId) return found;
    if (alert?.movedTo) return alert.movedTo;
    return this.#turn.state.stage === 'started' ? this.#turn.state.successorId : null;
  }

  #shareOf(target: PublicId): Share {
    const known = this.#shares.get(target);
    if (known) return known;
    const share: Share = { firing: [], resolved: [], groupWideResolved: [], withdrawn: [], presences: [] };
    this.#shares.set(target, share);
    return share;
  }
}
