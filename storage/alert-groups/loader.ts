/** Loads the Alerts that an Alert Group owns. */
import { ALERT_GROUP, type FeedPresence } from '../../actors/alert-group/messages.ts';
import { type GroupAlert, type GroupRows, keyOf } from '../../actors/alert-group/rows.ts';
import type { Labels, SeverityLevel } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { wordArray } from '../array-literals.ts';
import type { RowLoader } from '../records.ts';

export interface AlertRow {
  readonly group_id: PublicId;
  readonly integration_id: PublicId;
  readonly fingerprint: string;
  readonly position: number;
  readonly state: GroupAlert['state'];
  readonly route_id: PublicId;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly generator_url: string | null;
  readonly severity_level: SeverityLevel;
  readonly severity_raw: string | null;
  readonly label_conflicts: readonly string[];
  readonly starts_at: Micros;
  readonly ended_start: Micros | null;
  readonly continued_at: Micros | null;
  readonly last_seen_at: Micros;
  readonly resolved_at: Micros | null;
  readonly resolved_by: GroupAlert['resolvedBy'];
  readonly moved_to: PublicId | null;
  readonly feeds: Readonly<Record<string, FeedPresence>>;
  readonly sender_groups: readonly string[];
}

/** Index: group_alerts_pkey. */
export const alertRows: RowLoader = {
  kind: ALERT_GROUP,
  async load(sql, keys) {
    const rows = await sql<AlertRow[]>`
      select * from group_alerts
      where group_id = any(${wordArray(keys)}::text[])
      order by group_id, position`;
    const loaded = new Map<string, GroupRows>();
    for (const row of rows) {
      const alerts = loaded.get(row.group_id) ?? new Map<string, GroupAlert>();
      loaded.set(row.group_id, alerts);
      const alert = alertOf(row);
      alerts.set(keyOf(alert), alert);
    }
    return loaded;
  },
};

export function alertOf(row: AlertRow): GroupAlert {
  return {
    integrationId: row.integration_id,
    report: {
      fingerprint: row.fingerprint,
      labels: row.labels,
      annotations: row.annotations,
      startsAt: row.starts_at,
      generatorUrl: row.generator_url,
      severityLevel: row.severity_level,
      severityRaw: row.severity_raw,
      labelConflicts: row.label_conflicts,
    },
    position: row.position,
    state: row.state,
    routeId: row.route_id,
    startsAt: row.starts_at,
    endedStart: row.ended_start,
    continuedAt: row.continued_at,
    lastSeenAt: row.last_seen_at,
    resolvedAt: row.resolved_at,
    resolvedBy: row.resolved_by,
    movedTo: row.moved_to,
    feeds: row.feeds,
    senderGroups: row.sender_groups,
  };
}
