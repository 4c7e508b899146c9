/** What an Integration received: its Alerts view, and the sender's routes (ingestion §10, api §10). */
import * as v from 'valibot';
import type { AlertsView, ViewedAlert } from '../../../actors/alert-group/reading/readers.ts';
import type { Directory } from '../../../actors/directory.ts';
import type { AlertmanagerRoute, AlertmanagerRoutes } from '../../../actors/integration/ports.ts';
import { LONG_REPEAT, staleAfter } from '../../../actors/integration/rows.ts';
import { routeSnippet } from '../../../actors/integration/snippets.ts';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { type Call, type Operation, operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { labelMatchers, searchText } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { AlertGroupRef, EntityRef, itemsOf, pageOf } from '../../schema/shapes.ts';
import { AlertState, SeverityLevel } from '../../schema/words.ts';
import { alertBody, routeRef } from '../alert-groups/bodies.ts';
import { AlertBase } from '../alert-groups/shapes.ts';
import { INTEGRATION_ID, integrationId } from './shapes.ts';

export interface IntegrationAlertsDeps {
  readonly alerts: AlertsView;
}

const LIST = 'integration-alerts';
const SORTS = ['last_seen_at', '-last_seen_at', 'starts_at', '-starts_at'] as const;

const alertsQuery = v.object({
  ...pageQuery,
  state: d.described(v.optional(AlertState), 'Only Alerts in this state.'),
  label: labelMatchers,
  q: d.described(searchText, 'Text in the labels in any case, up to 200 characters.'),
  sort: d.described(
    v.optional(v.picklist(SORTS), '-last_seen_at'),
    'By last sight (`last_seen_at`) or begin (`starts_at`), oldest first; `-last_seen_at`, `-starts_at`: newest first.',
  ),
});

/** `route` and `alert_group` are absent when there are none. */
const ViewedAlertShape = d.extending(
  AlertBase,
  'IntegrationAlert',
  v.object({
    ...AlertBase.entries,
    static_label_warnings: d.described(
      v.array(v.string()),
      'Static labels that the Alert sets to another value.',
    ),
    route: d.described(v.optional(EntityRef), 'The Route that took it. Absent when its Alert Group is gone.'),
    severity_level: SeverityLevel,
    severity_raw: d.textOrNull('Value of the severity label; null without one.'),
    alert_group: d.described(v.optional(AlertGroupRef), 'Absent when it is gone.'),
  }),
  'An Alert of an Integration, where it fires or fired last.',
);

export function integrationAlertOperations({ alerts }: IntegrationAlertsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listIntegrationAlerts',
      method: 'GET',
      path: '/integrations/{integration_id}/alerts',
      tag: 'Integrations',
      summary: 'List Alerts of an Integration, deleted or not, last seen first; a page may be short',
      description: 'Each Alert once, where it fires or fired last. At most 5,000 are looked at for a page.',
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

/** The sender's routes and how often they repeat themselves (ingestion §10, api §10). */
const RouteShape = d.named(
  'AlertmanagerRoute',
  v.object({
    route_path: d.text('Path of the route, as the group keys of the sender show it.'),
    learned_repeat_interval_seconds: d.described(
      v.nullable(v.number()),
      'Seconds between repeats, as observed; null until they were.',
    ),
    resolve_by_absence_after_seconds: d.count('Seconds of silence after which its Alerts are over.'),
    truncated_group_count: d.count('How many groups of the route are cut off by `max_alerts`.'),
    long_interval_warning: d.flag('Whether it repeats so rarely that ends are noticed late.'),
    recommended_snippet: d.textOrNull('A change to `alertmanager.yml` that helps; null when none is needed.'),
  }),
  'A route of the sender, and what was learned about it.',
);

export function alertmanagerRouteOperations({
  routes,
}: {
  readonly routes: AlertmanagerRoutes;
}): readonly Operation[] {
  return [
    operation({
      id: 'listAlertmanagerRoutes',
      method: 'GET',
      path: '/integrations/{integration_id}/alertmanager-routes',
      tag: 'Integrations',
      summary: "List the sender's routes with what was learned of their repeats",
      description: 'How often a route repeats says when its Alerts count as over.',
      needs: 'integrations:read',
      ids: INTEGRATION_ID,
      answers: { 200: { description: 'By route path', schema: itemsOf(RouteShape) } },
      async handle(call) {
        const found = await routes(integrationId(call));
        return found ? { status: 200, body: { items: found.map(routeBody) } } : notFound();
      },
    }),
  ];
}

function routeBody(route: AlertmanagerRoute): v.InferOutput<typeof RouteShape> {
  const { routePath, interval } = route;
  const isLong = interval !== null && interval > LONG_REPEAT;
  return {
    route_path: routePath,
    learned_repeat_interval_seconds: interval === null ? null : Math.round(interval / SECOND),
    resolve_by_absence_after_seconds: Math.round(staleAfter(interval) / SECOND),
    truncated_group_count: route.truncatedGroups,
    long_interval_warning: isLong,
    recommended_snippet: isLong ? routeSnippet(routePath) : null,
  };
}
