/** The small state of an Alert Group: the machine's snapshot and what is counted beside it. */
import type { SnapshotFrom } from 'xstate';
import { persistSnapshot, restoreSnapshot } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { GroupStatus, Slot } from '../model.ts';
import { alertGroupMachine } from './machine.ts';
import type { GroupContext } from './machine-types.ts';
import type { Portrait } from './portrait.ts';

export type GroupSnapshot = SnapshotFrom<typeof alertGroupMachine>;

/** An address that was chosen for a group whose first Alert has not come yet, or a group that has begun. */
export type GroupState = { readonly stage: 'unstarted' } | StartedGroup;

export interface StartedGroup {
  readonly stage: 'started';
  readonly snapshot: GroupSnapshot;
  /** #N; null until the commit that draws it. */
  readonly number: number | null;
  readonly slot: Slot;
  readonly portrait: Portrait;
  /** Lifecycle events so far. */
  readonly sequence: number;
  /** Time of the newest lifecycle event; event times never decrease. */
  readonly lastChangedAt: Micros;
  /** The Alert Group to which new firings of this group's Slot go. */
  readonly successorId: PublicId | null;
  readonly firingAgainAfter: number | null;
  readonly replacedLabel: string | null;
  /** Destinations that have a problem with this group now. */
  readonly troubledDestinations: readonly PublicId[];
}

export const UNSTARTED: GroupState = { stage: 'unstarted' };

export function persistState(state: GroupState): unknown {
  if (state.stage === 'unstarted') return state;
  return { ...state, snapshot: persistSnapshot(alertGroupMachine, state.snapshot) };
}

/** The way back from {@link persistState}. What is read was written by it, so its shape is trusted. */
export function restoreState(persisted: unknown): GroupState {
  const stored = persisted as GroupState;
  if (stored.stage === 'unstarted') return stored;
  return { ...stored, snapshot: restoreSnapshot(alertGroupMachine, stored.snapshot) };
}

export function contextOf(state: StartedGroup): GroupContext {
  return state.snapshot.context;
}

export function statusOf({ snapshot }: StartedGroup): GroupStatus {
  const { value } = snapshot;
  if (typeof value === 'string') return value;
  if ('firing' in value) return 'firing';
  return 'acknowledged' in value ? 'acknowledged' : 'resolved';
}

export function isOpen(state: StartedGroup): boolean {
  return statusOf(state) !== 'resolved';
}

export function isMoved(state: StartedGroup): boolean {
  const { routeId, originalRouteId } = contextOf(state);
  return routeId !== originalRouteId;
}

/** Resolved by a person, with Alerts that still fire and the Grace period running. */
export function isInGrace({ snapshot }: StartedGroup): boolean {
  return snapshot.matches({ resolved: { person: 'grace' } });
}

export function isResolvedBySystem({ snapshot }: StartedGroup): boolean {
  return snapshot.matches({ resolved: 'system' });
}

/** Nobody took it after the third notice. */
export function isUnclaimed({ snapshot }: StartedGroup): boolean {
  return snapshot.matches({ firing: 'unclaimed' });
}

/** When the group next has to do something by itself, µs; null for never. */
export function wakeAtOf(state: GroupState): Micros | null {
  if (state.stage === 'unstarted') return null;
  const { snooze, graceDeadline, reopenDeadline, noticeAt } = contextOf(state);
  if (noticeAt !== null) return noticeAt;
  if (snooze) return snooze.until;
  if (isInGrace(state)) return graceDeadline;
  return state.snapshot.matches({ resolved: { system: 'reopenable' } }) ? reopenDeadline : null;
}
