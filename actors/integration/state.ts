/** An Integration as its actor keeps it: the machine's snapshot, and what it was told of the configuration. */
import { begin, persistSnapshot, restoreSnapshot } from '../../runtime/actor/index.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { Labels } from '../model.ts';
import { type IntegrationContext, type IntegrationSnapshot, integrationMachine } from './machine.ts';

export interface IntegrationState {
  readonly snapshot: IntegrationSnapshot;
  /** Of the configuration; 0 before it was told any. */
  readonly version: number;
  readonly name: string;
  readonly staticLabels: Labels;
}

/** Number of this shape. */
export const SCHEMA = 1;

export function startIntegration(): IntegrationState {
  return { snapshot: begin(integrationMachine), version: 0, name: '', staticLabels: {} };
}

export function persistIntegration(state: IntegrationState): unknown {
  return { ...state, snapshot: persistSnapshot(integrationMachine, state.snapshot) };
}

/** The way back from {@link persistIntegration}. */
export function restoreIntegration(persisted: unknown): IntegrationState {
  const state = persisted as IntegrationState;
  return { ...state, snapshot: restoreSnapshot(integrationMachine, state.snapshot) };
}

/** When silence counts as lost, µs; null unless the Heartbeat is live. */
export function lostAt({ snapshot }: IntegrationState): Micros | null {
  const { lastSignalAt, awaitedAt, excusedUntil, timeout } = snapshot.context;
  if (snapshot.value !== 'live' || lastSignalAt === null) return null;
  return Math.max(lastSignalAt, awaitedAt ?? 0, excusedUntil ?? 0) + timeout;
}

/** The last signal of a Heartbeat that is lost, µs. */
export function lostSince({ snapshot }: IntegrationState): Micros | null {
  const { lastSignalAt, awaitedAt } = snapshot.context;
  if (snapshot.value !== 'lost' || lastSignalAt === null) return null;
  return Math.max(lastSignalAt, awaitedAt ?? 0);
}

/** Whether live time goes on at this moment: the last signal is no longer ago than the timeout. */
export function isAlive({ snapshot }: IntegrationState, now: Micros): boolean {
  const { lastSignalAt, timeout } = snapshot.context;
  return snapshot.value === 'live' && lastSignalAt !== null && now <= lastSignalAt + timeout;
}

/** Deleted, whether or not everything about it is done. */
export function isGone({ snapshot }: IntegrationState): boolean {
  return snapshot.matches('deleting') || snapshot.matches('settling') || snapshot.matches('deleted');
}

export function wakeAtOf(state: IntegrationState): Micros | null {
  const { value, context } = state.snapshot;
  // A Heartbeat that says nothing, or nothing yet, proves nothing: whatever there is to look for has to wait.
  if (value === 'waiting' || value === 'lost' || value === 'deleted') return null;
  const wishes = [lostAt(state), context.checkAt].flatMap((at) => at ?? []);
  // Only what lasts longer than the timeout is lost.
  return wishes.length === 0 ? null : Math.min(...wishes) + 1;
}

export type { IntegrationContext };

/** How soon the feeds are looked at when there is a reason, and again when it was not the time. */
export const CHECK_PAUSE: Micros = 10 * SECOND;
