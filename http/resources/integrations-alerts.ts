/** The Alerts view of an Integration (ingestion §10, api §10). */
import * as v from 'valibot';
import type { AlertsView, ViewedAlert } from '../../actors/alert-group/alerts-view.ts';
import type { Directory } from '../../actors/directory.ts';
import { SEVERITY_LEVELS } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../page.ts';
import { notFound } from '../problem.ts';
import { labelMatchers, searchText } from '../query-fields.ts';
import { AlertGroupRef, EntityRef, pageOf } from '../shapes.ts';
import { routeRef } from './alert-groups-refs.ts';
import { AlertShape } from './alert-groups-shapes.ts';
import { alertBody } from './alert-groups-timeline-body.ts';
import { INTEGRATION_ID, integrationId } from './integrations-shared.ts';

export interface IntegrationAlertsDeps {
  readonly alerts: AlertsView;
}

const LIST = 'integration-alerts';
const SORTS = ['last_seen_at', '-last_seen_at', 'starts_at', '-starts_at'] as const;

const alertsQuery = v.object({
  ...pageQuery,
  state: v.optional(v.picklist(['firing', 'resolved'])),
  label: labelMatchers,
  q: searchText,
  sort: v.optional(v.picklist(SORTS), '-last_seen_at'),
});

/** `route` and `alert_group` are absent when there are none. */
const ViewedAlertShape = v.object({
  ...v.omit(AlertShape, ['integration', 'source_url']).entries,
  static_label_warnings: v.array(v.string()),
  route: v.optional(EntityRef),
  severity_level: v.picklist(SEVERITY_LEVELS),
  severity_raw: v.nullable(v.string()),
  alert_group: v.optional(AlertGroupRef),
});

export function integrationAlertOperations({ alerts }: IntegrationAlertsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listIntegrationAlerts',
      method: 'GET',
      path: '/integrations/{integration_id}/alerts',
      tag: 'Integrations',
      summary: 'List Alerts of an Integration, deleted or not, last seen first; a page may be short',
      needs: 'alerts:read',
      ids: INTEGRATION_ID,
      query: alertsQuery,
      answers: { 200: { description: 'A page of Alerts', schema: pageOf(ViewedAlertShape) } },
      async handle(call) {
        const { query, directory, now } = call;
        const { cursor, limit = DEFAULT_LIMIT, ...asked } = query;
        const filters = { integration: integrationId(call as Call), ...asked };
        const after = cursor === undefined ? null : afterOf(cursor, filters);
        if (after === 'invalid') return INVALID_CURSOR;
        if (!directory.integrationsById.has(filters.integration)) return notFound();
        const descending = query.sort.startsWith('-');
        const page = await alerts.list(
          {
            integrationId: filters.integration,
            state: query.state ?? null,
            matchers: query.label,
            text: query.q || null,
            sort: query.sort.endsWith('starts_at') ? 'starts_at' : 'last_seen_at',
            ...{ descending, after, limit },
          },
          now,
        );
        return {
          status: 200,
          body: {
            items: page.items.map((alert) => viewedBody(alert, directory)),
            next_cursor: page.next && encodeCursor(LIST, filters, page.next),
          },
        };
      },
    }),
  ];
}

function afterOf(cursor: string, filters: unknown): readonly [Micros, string] | 'invalid' {
  const [value, fingerprint] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof value === 'number' && typeof fingerprint === 'string' ? [value, fingerprint] : 'invalid';
}

function viewedBody({ alert, group }: ViewedAlert, directory: Directory) {
  const { report, routeId } = alert;
  const {
    integration: _,
    source_url: __,
    ...shared
  } = alertBody({ ...alert, movedToNumber: null }, directory);
  return {
    ...shared,
    static_label_warnings: report.labelConflicts,
    route: routeRef(directory, routeId),
    severity_level: report.severityLevel,
    severity_raw: report.severityRaw,
    alert_group: group,
  };
}
