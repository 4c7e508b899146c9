/** Previews how many Alert Groups a Group key would form from received Alerts (routes §9). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory, Matcher, RouteConfig } from '../directory.ts';
import type { SnapshotEntry } from '../feed/snapshot.ts';
import { alertKey, type Labels } from '../model.ts';
import { compileRoutes, groupLabelsFor, routeFor, withStaticLabels } from './evaluate.ts';
import { compileMatchers } from './matcher.ts';

/** Largest sample: Alerts of the Route that are grouped. Reading stops there. */
export const MOST_KEPT = 10_000;
const MOST_EXAMPLES = 5;
/** Alerts that are shown one by one, with the Route that takes each. */
const MOST_SAMPLES = 20;
/** Earlier Routes that are named as taking what the Matchers match. */
const MOST_EARLIER = 20;

export interface PreviewedRoute {
  /** A saved Route, or null for a new one directly before the Default route. */
  readonly route: RouteConfig | null;
  /** Replace the Route's own Matchers; null: its own. */
  readonly matchers: readonly Matcher[] | null;
}

export interface PreviewSide {
  readonly alert_group_count: number;
  /** Largest first. */
  readonly examples: readonly { readonly group_key_values: Labels; readonly alert_count: number }[];
}

/** The Route that takes an Alert, and by which Matchers; `id` and `name` are null for the new Route itself. */
export interface TakingRoute {
  readonly id: PublicId | null;
  readonly name: string | null;
  readonly matchers: readonly Matcher[];
}

/** An Alert that the previewed Route's Matchers match: the first Route of the list that matches takes it. */
export interface MatchedAlert {
  readonly labels: Labels;
  readonly taken_by: TakingRoute;
  /** False when an earlier Route takes it. */
  readonly comes_here: boolean;
}

/** The Alerts that a Route would take, each as the newest Snapshot lists it. */
export interface RouteSample {
  /**
   * Adds an Alert that a Snapshot lists as firing. Call it with the newest Snapshots first: later ones of the same
   * Alert are ignored.
   * @returns false when the Route takes the Alert but the sample is full
   */
  add(integrationId: PublicId, entry: SnapshotEntry): boolean;
  /** Whether the sample is full. */
  isFull(): boolean;
  /** How many different Alerts were added, taken by the Route or not. */
  looked(): number;
  side(groupKey: readonly string[]): PreviewSide;
  /** Alerts that the Matchers match, the newest first, at most {@link MOST_SAMPLES}. */
  samples(): readonly MatchedAlert[];
  /** Earlier Routes that take what the Matchers match, in evaluation order, at most {@link MOST_EARLIER}. */
  takenEarlier(): readonly { readonly route: TakingRoute; readonly alert_count: number }[];
}

const NEW_ROUTE = 'RT000000000000' as PublicId;

export function sampleOf(directory: Directory, previewed: PreviewedRoute): RouteSample {
  const id = previewed.route?.id ?? NEW_ROUTE;
  const routes = withPreviewed(directory.routes, previewed);
  const table = compileRoutes({ routes });
  const matches = compileMatchers(routes.find((route) => route.id === id)?.matchers ?? []);
  const looked = new Set<string>();
  const kept: Labels[] = [];
  const samples: MatchedAlert[] = [];
  const earlier = new Map<RouteConfig, number>();
  return {
    add(integrationId, { fingerprint, status, labels: received }) {
      if (status !== 'firing') return true;
      const key = alertKey(integrationId, fingerprint);
      if (looked.has(key)) return true;
      looked.add(key);
      const staticLabels = directory.integrationsById.get(integrationId)?.staticLabels ?? {};
      const { labels } = withStaticLabels(received, staticLabels);
      if (!matches(labels)) return true;
      const taking = routeFor(table, labels);
      const comesHere = taking.id === id;
      if (comesHere && kept.length === MOST_KEPT) return false;
      if (samples.length < MOST_SAMPLES) {
        samples.push({ labels, taken_by: takingRoute(taking), comes_here: comesHere });
      }
      if (comesHere) kept.push(labels);
      else earlier.set(taking, (earlier.get(taking) ?? 0) + 1);
      return true;
    },
    isFull: () => kept.length === MOST_KEPT,
    looked: () => looked.size,
    side: (groupKey) => sideOf(kept, groupKey),
    samples: () => samples,
    takenEarlier: () =>
      routes
        .flatMap((route) => {
          const count = earlier.get(route);
          return count === undefined ? [] : [{ route: takingRoute(route), alert_count: count }];
        })
        .slice(0, MOST_EARLIER),
  };
}

function takingRoute({ id, name, matchers }: RouteConfig): TakingRoute {
  return id === NEW_ROUTE ? { id: null, name: null, matchers } : { id, name, matchers };
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
