/** Reads rows of `alert_groups` as Alert Groups. */
import type { StoredGroup } from '../../actors/alert-group/reading/readers.ts';
import type { GroupStatus, Labels, Principal, ResolveReason, SeverityLevel } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql } from '../postgres/records.ts';
import type { Fragment } from './filters.ts';

/** Everything {@link groupOf} needs, from `alert_groups g`. Indexes: alert_groups_open_slot, alert_groups_number. */
export function groupColumns(sql: Sql): Fragment {
  return sql`
    g.*,
    (
      select jsonb_build_object('id', n.id, 'number', n.number) from alert_groups n
      where g.resolved_by = 'user' and g.moved_from_route_id is null
        and n.original_route_id = g.original_route_id and n.key_hash = g.key_hash and n.id <> g.id
        and n.status <> 'resolved' and n.moved_from_route_id is null
      limit 1
    ) as newer,
    (select e.number from alert_groups e where e.number = g.firing_again_after) as fires_again_after,
    case when g.details_removed then (
      select (o.settings -> 'retention' ->> 'alert_details_days')::integer from organization o
    ) end as details_kept_days`;
}

export interface StoredGroupRow {
  readonly id: PublicId;
  readonly number: number;
  readonly title: string;
  readonly summary: string | null;
  readonly status: GroupStatus;
  readonly route_id: PublicId;
  readonly original_route_id: PublicId;
  readonly key_hash: string;
  readonly group_labels: Labels;
  readonly common_labels: Labels;
  readonly common_annotations: Labels;
  readonly integration_ids: readonly PublicId[];
  readonly severity_level: SeverityLevel;
  readonly owner_id: PublicId | null;
  readonly snoozed_by: Principal | null;
  readonly snooze_until: Micros | null;
  readonly started_at: Micros;
  readonly resolved_at: Micros | null;
  readonly last_changed_at: Micros;
  readonly resolved_by: 'user' | 'system' | null;
  readonly resolver: Principal | null;
  readonly resolve_reason: ResolveReason | null;
  readonly resolve_reason_text: string | null;
  readonly reopen_count: number;
  readonly firing_alert_count: number;
  readonly resolved_alert_count: number;
  readonly unclaimed: boolean;
  readonly next_notice_at: Micros | null;
  readonly reminder_pending: boolean;
  readonly delivery_problem: boolean;
  readonly in_grace: boolean;
  readonly first_acknowledged_at: Micros | null;
  readonly first_acknowledged_by: PublicId | null;
  readonly first_published_at: Micros | null;
  readonly firing_again_after: number | null;
  readonly replaced_label: string | null;
  readonly alerts_started_at: Micros | null;
  readonly runbook_url: string | null;
  readonly dashboard_url: string | null;
  readonly source_url: string | null;
  readonly details_removed: boolean;
  readonly details_kept_days: number | null;
  readonly newer: { readonly id: PublicId; readonly number: number } | null;
  readonly fires_again_after: number | null;
}

export function groupOf(row: StoredGroupRow): StoredGroup {
  return {
    id: row.id,
    number: row.number,
    title: row.title,
    summary: row.summary,
    status: row.status,
    routeId: row.route_id,
    originalRouteId: row.original_route_id,
    keyHash: row.key_hash,
    groupLabels: row.group_labels,
    commonLabels: row.common_labels,
    commonAnnotations: row.common_annotations,
    integrationIds: row.integration_ids,
    severityLevel: row.severity_level,
    ownerId: row.owner_id,
    snoozedBy: row.snoozed_by,
    snoozeUntil: row.snooze_until,
    startedAt: row.started_at,
    resolvedAt: row.resolved_at,
    lastChangedAt: row.last_changed_at,
    resolvedBy: row.resolved_by,
    resolver: row.resolver,
    resolveReason: row.resolve_reason,
    resolveReasonText: row.resolve_reason_text,
    reopenCount: row.reopen_count,
    firingAlertCount: row.firing_alert_count,
    resolvedAlertCount: row.resolved_alert_count,
    unclaimed: row.unclaimed,
    nextNoticeAt: row.next_notice_at,
    reminderPending: row.reminder_pending,
    deliveryProblem: row.delivery_problem,
    inGrace: row.in_grace,
    firstAcknowledgedAt: row.first_acknowledged_at,
    firstAcknowledgedBy: row.first_acknowledged_by,
    firstPublishedAt: row.first_published_at,
    firingAgainAfter: row.firing_again_after,
    replacedLabel: row.replaced_label,
    alertsStartedAt: row.alerts_started_at,
    runbookUrl: row.runbook_url,
    dashboardUrl: row.dashboard_url,
    sourceUrl: row.source_url,
    detailsRemoved: row.details_removed,
    detailsKeptDays: row.details_kept_days,
    newer: row.newer,
    firesAgainAfter: row.fires_again_after,
  };
}
