/** What the API answers about senders, what they sent, and what Routes would do (api §10, §11). */
import type { AlertGroupRef, EntityRef, Instant, Labels, RouteInput, SeverityLevel } from './shapes.ts';

/** A route of the sender's configuration, and how often it repeats (ingestion §10). */
export interface SenderRoute {
  readonly route_path: string;
  readonly learned_repeat_interval_seconds: number | null;
  readonly resolve_by_absence_after_seconds: number;
  readonly truncated_group_count: number;
  readonly long_interval_warning: boolean;
  readonly recommended_snippet: string | null;
}

export interface IntegrationAlert {
  readonly fingerprint: string;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'firing' | 'resolved';
  readonly resolve_reason: string | null;
  readonly resolve_reason_text: string | null;
  readonly starts_at: Instant;
  readonly resolved_at: Instant | null;
  readonly last_seen_at: Instant;
  readonly alertmanager_groups: readonly string[];
  readonly static_label_warnings: readonly string[];
  readonly route?: EntityRef;
  readonly severity_level: SeverityLevel;
  readonly severity_raw: string | null;
  readonly alert_group?: AlertGroupRef;
}

export type SnapshotState = 'pending' | 'processed' | 'failed';

export interface StoredSnapshot {
  readonly id: string;
  readonly integration: EntityRef;
  readonly received_at: Instant;
  readonly processed_at: Instant | null;
  readonly size_bytes: number;
  readonly group_key: string | null;
  readonly alert_count: number | null;
  readonly truncated_alerts: number | null;
  readonly state: SnapshotState;
  readonly processing_error: string | null;
}

export interface StoredSnapshotBody extends StoredSnapshot {
  readonly body: string;
  readonly content_type: string | null;
  readonly body_encoding: 'utf8' | 'base64';
}

export interface GroupKeySide {
  readonly alert_group_count: number;
  /** Up to five, the largest first. */
  readonly examples: readonly { readonly group_key_values: Labels; readonly alert_count: number }[];
}

export interface GroupKeyPreview {
  readonly period_seconds: number;
  readonly truncated: boolean;
  readonly current: GroupKeySide | null;
  readonly proposed: GroupKeySide;
}

export interface GroupKeyPreviewInput {
  readonly route_id: string | null;
  readonly matchers?: RouteInput['matchers'];
  readonly proposed_group_key: readonly string[];
  readonly period_seconds: number;
}

export interface RouteSuggestion {
  readonly id: string;
  readonly route: RouteInput;
}
