/** How many Alert Groups a Group key would make of Alerts that were received (routes §9). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory, Matcher, RouteConfig } from '../directory.ts';
import type { SnapshotEntry } from '../feed/snapshot.ts';
import { withStaticLabels } from '../integration/static-labels.ts';
import { alertKey, type Labels } from '../model.ts';
import { compileRoutes, routeFor } from './evaluate.ts';
import { groupLabelsFor } from './group-key.ts';

/** Alerts of the Route that are grouped; reading stops there. */
export const MOST_KEPT = 10_000;
const MOST_EXAMPLES = 5;

export interface PreviewedRoute {
  /** A saved Route, or null for a new one directly before the Default route. */
  readonly route: RouteConfig | null;
  /** In place of the Route's own; null: its own. */
  readonly matchers: readonly Matcher[] | null;
}

export interface PreviewSide {
  readonly alert_group_count: number;
  /** Largest first. */
  readonly examples: readonly { readonly group_key_values: Labels; readonly alert_count: number }[];
}

/** The Alerts that a Route would take, each as the newest Snapshot lists it. */
export interface RouteSample {
  /**
   * Looks at an Alert that a Snapshot lists, if it lists it as firing. Snapshots come newest first: whoever was looked
   * at before is known already.
   * @returns false when the Route takes an Alert that has no room any more
   */
  add(integrationId: PublicId, entry: SnapshotEntry): boolean;
  /** Whether there is no room for another one. */
  isFull(): boolean;
  /** How many Alerts were looked at. */
  looked(): number;
  side(groupKey: readonly string[]): PreviewSide;
}

const NEW_ROUTE = 'RT000000000000' as PublicId;

export function sampleOf(directory: Directory, previewed: PreviewedRoute): RouteSample {
  const id = previewed.route?.id ?? NEW_ROUTE;
  const table = compileRoutes({ routes: withPreviewed(directory.routes, previewed) });
  const looked = new Set<string>();
  const kept: Labels[] = [];
  return {
    add(integrationId, { fingerprint, status, labels: received }) {
      if (status !== 'firing') return true;
      const key = alertKey(integrationId, fingerprint);
      if (looked.has(key)) return true;
      looked.add(key);
      const staticLabels = directory.integrationsById.get(integrationId)?.staticLabels ?? {};
      const { labels } = withStaticLabels(received, staticLabels);
      if (routeFor(table, labels).id !== id) return true;
      if (kept.length === MOST_KEPT) return false;
      kept.push(labels);
      return true;
    },
    isFull: () => kept.length === MOST_KEPT,
    looked: () => looked.size,
    side: (groupKey) => sideOf(kept, groupKey),
  };
}

function withPreviewed(
  routes: readonly RouteConfig[],
  { route, matchers }: PreviewedRoute,
): readonly RouteConfig[] {
  if (matchers === null) return routes;
  if (route) return routes.map((each) => (each.id === route.id ? { ...each, matchers } : each));
  const fallback = routes.find(({ isDefault }) => isDefault);
  if (!fallback) throw new Error('there is no Default route');
  const added = { ...fallback, id: NEW_ROUTE, isDefault: false, matchers };
  return [...routes.filter(({ isDefault }) => !isDefault), added, fallback];
}

function sideOf(kept: readonly Labels[], groupKey: readonly string[]): PreviewSide {
  const groups = new Map<string, { readonly values: readonly string[]; alerts: number }>();
  for (const labels of kept) {
    const values = Object.values(groupLabelsFor(groupKey, labels));
    const key = JSON.stringify(values);
    const group = groups.get(key);
    if (group) group.alerts++;
    else groups.set(key, { values, alerts: 1 });
  }
  const largest = [...groups.values()]
    .sort((left, right) => right.alerts - left.alerts || compareValues(left.values, right.values))
    .slice(0, MOST_EXAMPLES);
  return {
    alert_group_count: groups.size,
    examples: largest.map(({ values, alerts }) => ({
      group_key_values: Object.fromEntries(groupKey.map((name, index) => [name, values[index] ?? ''])),
      alert_count: alerts,
    })),
  };
}

function compareValues(left: readonly string[], right: readonly string[]): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? '';
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}
