/** What an Integration's turn asks for, as plain data. */
import type { PerformedEffect, RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { LearnedRoute, TruncatedFeed } from './rows.ts';

/** What the API and the metrics show of it. */
export interface IntegrationSaved extends RecordedEffect {
  readonly type: 'integration.saved';
  readonly integrationId: PublicId;
  /** Version of the configuration that it received last. */
  readonly version: number;
  /** Last signal of a Heartbeat that is lost. */
  readonly lostSince: Micros | null;
  readonly truncatedSince: Micros | null;
  readonly truncatedGroups: number;
}

export interface RoutesLearned extends RecordedEffect {
  readonly type: 'integration.routes';
  readonly integrationId: PublicId;
  readonly saved: readonly LearnedRoute[];
  /** Route paths. */
  readonly removed: readonly string[];
}

export interface TruncationsChanged extends RecordedEffect {
  readonly type: 'integration.truncations';
  readonly integrationId: PublicId;
  readonly saved: readonly TruncatedFeed[];
  /** Keys of feeds. */
  readonly removed: readonly string[];
}

/** Nothing is left of a deleted Integration that could still fire. */
export interface IntegrationEnded extends RecordedEffect {
  readonly type: 'integration.ended';
  readonly integrationId: PublicId;
  readonly at: Micros;
}

export type IntegrationRecord = IntegrationSaved | RoutesLearned | TruncationsChanged | IntegrationEnded;

/** Performed after the commit, for the log. */
export interface HeartbeatChanged extends PerformedEffect {
  readonly type: 'integration.heartbeat_changed';
  readonly integrationId: PublicId;
  readonly state: 'live' | 'lost';
  readonly lastSignalAt: Micros | null;
}

/** Performed after the commit, for the log: a check found presences stale. One a check, never one an Alert. */
export interface StaleFound extends PerformedEffect {
  readonly type: 'integration.alerts_stale';
  readonly integrationId: PublicId;
  readonly groups: number;
  readonly alerts: number;
}

export type IntegrationPerformed = HeartbeatChanged | StaleFound;
