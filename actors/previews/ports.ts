/** What dry runs and previews of templates need from storage. */
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { TemplateAlert } from '../templates/data.ts';

/** Templates that a Route may have of its own. */
export type RouteTemplateKind = 'root_message' | 'line' | 'ack_timeout_notice';

/** Alerts that a message lists by a line each (`message.alerts_listed`). */
export const MOST_LINES = 10;

/** A body as an Integration sent it. */
export interface SampleBody {
  readonly integrationId: PublicId;
  readonly body: Buffer;
}

/** Implemented in storage/sample-snapshots.ts. */
export interface SampleSnapshots {
  /** What was received last, newest first, each body of an Integration once; only so far back as previews look. */
  newest(integrationIds: readonly PublicId[], now: Micros): AsyncIterable<SampleBody>;
}

/** The Alerts of an Alert Group as templates read them. Implemented in storage/alert-groups/template-alerts.ts. */
export interface TemplateAlerts {
  /** Firing first, newest start first, then by fingerprint; at most 1,000. */
  of(groupId: PublicId): Promise<readonly TemplateAlert[]>;
  /** Those of these fingerprints, in any order. */
  named(groupId: PublicId, fingerprints: readonly string[]): Promise<readonly TemplateAlert[]>;
}
