/** Routes that are suggested while Internal alerts would be taken by the Default route only (routes §10). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory, Matcher, RouteConfig } from '../directory.ts';
import { internalLabels } from '../internal-alerts/conditions.ts';
import {
  type AlertedEntity,
  type EntityKind,
  INTERNAL_ALERT_NAMES,
  INTERNAL_ALERTS,
  type InternalAlertName,
} from '../internal-alerts/registry.ts';
import type { Labels } from '../model.ts';
import { compileRoutes, type RouteTable, routeFor } from './evaluate.ts';
import { ON_CALL_POLICY } from './policy.ts';
import type { RouteFields } from './ports.ts';

export const SUGGESTION_IDS = ['heartbeat_lost', 'internal_alerts'] as const;
export type SuggestionId = (typeof SUGGESTION_IDS)[number];

export interface Suggestion {
  readonly id: SuggestionId;
  /** What accepting creates; without Destinations, which the person who accepts may name. */
  readonly fields: RouteFields;
  /** The Route directly above the new one; null: the new Route is the first. */
  readonly below: PublicId | null;
}

type Picture = Pick<Directory, 'routes' | 'integrationsById' | 'destinationsById'>;

/** The suggestions that apply, in the order of {@link SUGGESTION_IDS}. */
export function suggestionsFor(directory: Picture): readonly Suggestion[] {
  const table = compileRoutes(directory);
  const suggestions: Suggestion[] = [];
  const isHomeless = (labels: Labels) => routeFor(table, labels).isDefault;
  if (heartbeatAlerts(directory).some(isHomeless)) suggestions.push(HEARTBEAT_LOST);
  const everyAlert = INTERNAL_ALERT_NAMES.flatMap((name) => alertsOf(directory, name));
  if (directory.destinationsById.size > 0 && everyAlert.some(isHomeless)) {
    suggestions.push({ ...INTERNAL, below: lowestTaker(directory.routes, table, everyAlert) });
  }
  return suggestions;
}

/** SvcHeartbeatLost of every Integration whose Heartbeat is on. */
function heartbeatAlerts({ integrationsById }: Picture): Labels[] {
  return [...integrationsById.values()].flatMap(({ id, name, deleted, heartbeat, staticLabels }) => {
    if (deleted || !heartbeat.enabled) return [];
    return [internalLabels({ name: 'SvcHeartbeatLost', entity: { id, name }, extras: staticLabels })];
  });
}

/** One alert of the registry as it may be raised now: about each present entity, or about none when there is none. */
function alertsOf(directory: Picture, name: InternalAlertName): Labels[] {
  const raised = INTERNAL_ALERTS[name].about.flatMap((kind) =>
    entitiesOf(directory, kind).flatMap(({ entity, staticLabels }) =>
      extrasOf(name, kind, staticLabels).map((extras) => internalLabels({ name, entity, extras })),
    ),
  );
  return raised.length > 0 ? raised : [internalLabels({ name, entity: null, extras: {} })];
}

function entitiesOf(
  { routes, integrationsById, destinationsById }: Picture,
  kind: EntityKind,
): readonly { readonly entity: AlertedEntity; readonly staticLabels: Labels }[] {
  switch (kind) {
    case 'integration':
      return [...integrationsById.values()]
        .filter(({ deleted, builtin }) => !deleted && !builtin)
        .map(({ id, name, staticLabels }) => ({ entity: { id, name }, staticLabels }));
    case 'destination':
      return [...destinationsById.values()].map(({ id, name }) => ({
        entity: { id, name },
        staticLabels: {},
      }));
    case 'route':
      return routes.map(({ id, name }) => ({ entity: { id, name }, staticLabels: {} }));
  }
}

const TEMPLATES: Readonly<Record<EntityKind, readonly string[]>> = {
  route: ['root_message', 'line', 'ack_timeout_notice'],
  destination: ['webhook_request'],
  integration: [],
};

/** Labels besides those of every Internal alert, for each way in which it may be raised. */
function extrasOf(name: InternalAlertName, kind: EntityKind, staticLabels: Labels): readonly Labels[] {
  if (name === 'SvcTemplateError') return TEMPLATES[kind].map((template) => ({ template }));
  return [name === 'SvcHeartbeatLost' ? staticLabels : {}];
}

/** The lowest Route but the Default one that is the first match of some alert. */
function lowestTaker(
  routes: readonly RouteConfig[],
  table: RouteTable,
  alerts: readonly Labels[],
): PublicId | null {
  const takers = new Set(alerts.map((labels) => routeFor(table, labels).id));
  return routes.findLast(({ id, isDefault }) => !isDefault && takers.has(id))?.id ?? null;
}

function suggested(
  name: string,
  matcher: Matcher,
  urgent: boolean,
  group_key: readonly string[],
): RouteFields {
  return {
    name,
    description: '',
    matchers: [matcher],
    urgent,
    group_key,
    destination_ids: [],
    policy: ON_CALL_POLICY,
  };
}

const HEARTBEAT_LOST: Suggestion = {
  id: 'heartbeat_lost',
  fields: suggested(
    'Tocsin: Heartbeat lost',
    { label: 'alertname', op: '=', value: 'SvcHeartbeatLost' },
    true,
    ['alertname', 'integration'],
  ),
  below: null,
};

const INTERNAL: Suggestion = {
  id: 'internal_alerts',
  fields: suggested('Tocsin internal alerts', { label: 'alertname', op: '=~', value: 'Svc.*' }, false, [
    'alertname',
    'integration',
    'destination',
    'route',
  ]),
  below: null,
};
