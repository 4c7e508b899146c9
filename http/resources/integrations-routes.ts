/** The sender's routes and how often they repeat themselves (ingestion §10, api §10). */
import * as v from 'valibot';
import { LONG_REPEAT, staleAfter } from '../../actors/integration/learned.ts';
import type { AlertmanagerRoute, AlertmanagerRoutes } from '../../actors/integration/ports.ts';
import { routeSnippet } from '../../actors/integration/route-snippet.ts';
import { SECOND } from '../../runtime/clock.ts';
import { type Operation, operation } from '../operation.ts';
import { notFound } from '../problem.ts';
import { itemsOf } from '../shapes.ts';
import { INTEGRATION_ID, integrationId } from './integrations-shared.ts';

const RouteShape = v.object({
  route_path: v.string(),
  learned_repeat_interval_seconds: v.nullable(v.number()),
  resolve_by_absence_after_seconds: v.number(),
  truncated_group_count: v.number(),
  long_interval_warning: v.boolean(),
  recommended_snippet: v.nullable(v.string()),
});

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
