/** The small state of an Alert Group: the machine's snapshot and what is counted beside it. */
import * as v from 'valibot';
import type { SnapshotFrom } from 'xstate';
import { persistSnapshot, restoreSnapshot } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { boundStoredMap, LABEL_BOUNDS } from '../feed/body.ts';
import type { GroupStatus, Slot } from '../model.ts';
import { alertGroupMachine } from './machine.ts';
import type { GroupContext } from './machine-types.ts';
import type { Portrait } from './reading/alert-summary.ts';
import { NEVER_REMINDED } from './timers/timers.ts';

export type GroupSnapshot = SnapshotFrom<typeof alertGroupMachine>;

/** An address reserved for a group whose first Alert has not arrived yet, or a started group. */
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

/**
 * Reverses {@link persistState}. The shape is trusted; the texts of the key are bounded again, because earlier releases
 * stored labels of any length. The key itself is not changed, because the group is found by it (ingestion §4.3). The
 * schema number is unchanged, so that replicas of the previous release can read what this one writes.
 */
export function restoreState(persisted: unknown): GroupState {
  const stored = persisted as GroupState;
  if (stored.stage === 'unstarted') return stored;
  const slot = { ...stored.slot, groupLabels: boundStoredMap(stored.slot.groupLabels, LABEL_BOUNDS) };
  return { ...stored, slot, snapshot: restoreSnapshot(alertGroupMachine, stored.snapshot) };
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

/** The next wake-up of the group, µs; null for none. */
export function wakeAtOf(state: GroupState): Micros | null {
  if (state.stage === 'unstarted') return null;
  const { snooze, graceDeadline, reopenDeadline, noticeAt } = contextOf(state);
  if (noticeAt !== null) return noticeAt;
  if (snooze) return snooze.until;
  if (isInGrace(state)) return graceDeadline;
  return state.snapshot.matches({ resolved: { system: 'reopenable' } }) ? reopenDeadline : null;
}

/** Older shapes of a persisted Alert Group. */
const Context = v.looseObject({
  owner: v.nullable(v.unknown()),
  firstPublishedAt: v.nullable(v.number()),
  prior: v.nullable(v.looseObject({ status: v.string() })),
});

const Persisted = v.variant('stage', [
  v.looseObject({ stage: v.literal('unstarted') }),
  v.looseObject({
    stage: v.literal('started'),
    snapshot: v.looseObject({ value: v.unknown(), context: Context }),
  }),
]);

/**
 * Migrates schema 1, which had neither holds nor notices. As when a timer is switched on, no timer starts for a group
 * that is already firing or acknowledged; it starts with the next status or the first Publication (routes §8).
 * @throws for an unknown schema
 */
export function migrateState(persisted: unknown, from: number): unknown {
  if (from !== 1) throw new Error(`no Alert Group was ever stored with schema ${from}`);
  const state = v.parse(Persisted, persisted);
  if (state.stage === 'unstarted') return state;
  const { value, context } = state.snapshot;
  const { owner, prior, firstPublishedAt } = context;
  const snapshot = {
    ...state.snapshot,
    value: isTimed(value) ? { [value]: firstPublishedAt === null ? 'waiting' : 'silent' } : value,
    context: {
      ...context,
      prior: prior?.status === 'acknowledged' ? { ...prior, reminders: NEVER_REMINDED } : prior,
      held: false,
      acceptedWhileHeld: false,
      noticeAt: null,
      noticesSent: 0,
      reminders: owner === null ? null : NEVER_REMINDED,
    },
  };
  return { ...state, snapshot };
}

function isTimed(value: unknown): value is 'firing' | 'acknowledged' {
  return value === 'firing' || value === 'acknowledged';
}
