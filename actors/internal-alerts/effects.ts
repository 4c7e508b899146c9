/** What any actor or any save records when the condition of an Internal alert changes (internal-alerts §2.1). */
import type { RecordedEffect } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Labels } from '../model.ts';

/** The closed list of internal-alerts §2.3. */
export const INTERNAL_ALERT_NAMES = [
  'SvcHeartbeatLost',
  'SvcDestinationBroken',
  'SvcSnapshotTruncated',
  'SvcTemplateError',
  'SvcOIDCSecretExpiring',
] as const;
export type InternalAlertName = (typeof INTERNAL_ALERT_NAMES)[number];

/** What the alert is about; which kind of entity that is follows from the name of the alert. */
export interface AlertedEntity {
  readonly id: PublicId;
  readonly name: string;
}

/** A condition began or ended. The same for a turn of an actor and for a transaction of a store. */
export interface InternalAlertChange {
  readonly change: 'raise' | 'resolve';
  readonly name: InternalAlertName;
  /** Null for an alert about the installation. */
  readonly entity: AlertedEntity | null;
  /**
   * Added to a raise: `template`. A label of the registry wins. The Static labels of SvcHeartbeatLost and the present
   * name of the entity need not be given: the commit reads them.
   */
  readonly labels?: Labels;
  /** What the text of SvcOIDCSecretExpiring names, `YYYY-MM-DD`. */
  readonly date?: string;
  /** When the condition changed, µs. */
  readonly at: Micros;
}

/**
 * Recorded by a turn, on transitions of the condition only. The commit stores it as a Snapshot of the built-in
 * Integration, which is processed like every other; nothing is stored about a deleted entity.
 */
export interface InternalAlertRecorded extends RecordedEffect, InternalAlertChange {
  readonly type: 'internal_alert.recorded';
}
