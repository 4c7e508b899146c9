/** Previews what a Route would take of received Alerts, and how many Alert Groups its key would form (routes §9). */
import type { PublicId } from '../../runtime/public-id.ts';
import type { Directory, Matcher, RouteConfig } from '../directory.ts';
import type { SnapshotEntry } from '../feed/snapshot.ts';
import { alertKey, type Labels } from '../model.ts';
import { compileRoutes, groupLabelsFor, routeFor, withStaticLabels } from './evaluate.ts';
import { compileMatchers } from './matcher.ts';

/** Largest sample: Alerts that the Route takes, as stored or as proposed. Reading stops there. */
export const MOST_KEPT = 10_000;
const MOST_EXAMPLES = 5;
/** Alerts that are shown one by one, with the Route that takes each. */
const MOST_SAMPLES = 20;
/** Other Routes that are named: as taking earlier what matches, as losing Alerts to this one, as gaining them. */
const MOST_OTHERS = 20;

export interface PreviewedRoute {
  /** A saved Route, or null for a new one directly before the Default route. */
  readonly route: RouteConfig | null;
  /** Replace the Route's own Matchers; null: its own. */
  readonly matchers: readonly Matcher[] | null;
  /** Its place among the Routes before the Default route, from 0; null: its own. Only of a saved Route. */
  readonly position: number | null;
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

export interface CountedRoute {
  readonly route: TakingRoute;
  readonly alert_count: number;
}

/** What the stored Route and the proposed one make of the same Alerts. */
export interface RouteChange {
  readonly present: RouteTotals;
  readonly proposed: RouteTotals;
  /** Alerts that only the proposed Route takes, by the Route that takes them at present. */
  readonly gained: { readonly alert_count: number; readonly from: readonly CountedRoute[] };
  /** Alerts that only the stored Route takes, by the Route that would take them. */
  readonly lost: { readonly alert_count: number; readonly to: readonly CountedRoute[] };
}

export interface RouteTotals {
  readonly alert_count: number;
  readonly alert_group_count: number;
}

/** The Alerts that a Route would take, each as the newest Snapshot lists it. */
export interface RouteSample {
  /**
   * Adds an Alert that a Snapshot lists as firing. Call it with the newest Snapshots first: later ones of the same
   * Alert are ignored.
   * @returns false when the Route takes the Alert, as stored or as proposed, but the sample is full
   */
  add(integrationId: PublicId, entry: SnapshotEntry): boolean;
  /** Whether the sample is full. */
  isFull(): boolean;
  /** How many different Alerts were added, taken by the Route or not. */
  looked(): number;
  side(groupKey: readonly string[]): PreviewSide;
  /** Alerts that the Matchers match, the newest first, at most {@link MOST_SAMPLES}. */
  samples(): readonly MatchedAlert[];
  /** Earlier Routes that take what the Matchers match, in evaluation order, at most {@link MOST_OTHERS}. */
  takenEarlier(): readonly CountedRoute[];
  /** The stored Route and the proposed one; others in evaluation order, at most {@link MOST_OTHERS}. */
  change(groupKey: readonly string[]): RouteChange;
}

const NEW_ROUTE = 'RT000000000000' as PublicId;

export function sampleOf(directory: Directory, previewed: PreviewedRoute): RouteSample {
  const id = previewed.route?.id ?? NEW_ROUTE;
  const isThis = (route: RouteConfig) => route.id === id;
  const present = listAs(directory.routes, isThis);
  const proposed = listAs(withPreviewed(directory.routes, previewed), isThis);
  const looked = new Set<string>();
  /** Taken by the stored Route, and by the proposed one. */
  const had: Labels[] = [];
  const kept: Labels[] = [];
  const samples: MatchedAlert[] = [];
  const earlier = new Counts();
  const gained = new Counts();
  const lost = new Counts();
  return {
    add(integrationId, { fingerprint, status, labels: received }) {
      if (status !== 'firing') return true;
      const key = alertKey(integrationId, fingerprint);
      if (looked.has(key)) return true;
      const staticLabels = directory.integrationsById.get(integrationId)?.staticLabels ?? {};
      const { labels } = withStaticLabels(received, staticLabels);
      const isMatched = proposed.matches(labels);
      // What neither form of the Route matches is taken by the same other Route before and after.
      if (!isMatched && !present.matches(labels)) {
        looked.add(key);
        return true;
      }
      const before = routeFor(present.table, labels);
      const after = routeFor(proposed.table, labels);
      if (isThis(before) && had.length === MOST_KEPT) return false;
      if (isThis(after) && kept.length === MOST_KEPT) return false;
      looked.add(key);
      if (isThis(before)) had.push(labels);
      if (isThis(after)) kept.push(labels);
      else if (isMatched) earlier.add(after.id);
      if (isThis(after) && !isThis(before)) gained.add(before.id);
      if (isThis(before) && !isThis(after)) lost.add(after.id);
      if (isMatched && samples.length < MOST_SAMPLES) {
        samples.push({ labels, taken_by: takingRoute(after), comes_here: isThis(after) });
      }
      return true;
    },
    isFull: () => had.length === MOST_KEPT || kept.length === MOST_KEPT,
    looked: () => looked.size,
    side: (groupKey) => sideOf(kept, groupKey),
    samples: () => samples,
    takenEarlier: () => earlier.of(proposed.routes),
    change: (groupKey) => ({
      present: totalsOf(had, previewed.route?.groupKey ?? []),
      proposed: totalsOf(kept, groupKey),
      gained: { alert_count: gained.total, from: gained.of(present.routes) },
      lost: { alert_count: lost.total, to: lost.of(proposed.routes) },
    }),
  };
}

/** A list of Routes ready to be evaluated; `matches` is of the previewed Route alone, which may not be in it yet. */
function listAs(routes: readonly RouteConfig[], isThis: (route: RouteConfig) => boolean) {
  const previewed = routes.find(isThis);
  const matches = previewed ? compileMatchers(previewed.matchers) : () => false;
  return { routes, table: compileRoutes({ routes }), matches };
}

/** Alerts by the Route that takes them. */
class Counts {
  total = 0;
  readonly #counts = new Map<PublicId, number>();

  add(id: PublicId): void {
    this.total++;
    this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  /** In the order of the list. */
  of(routes: readonly RouteConfig[]): readonly CountedRoute[] {
    return routes
      .flatMap((route) => {
        const count = this.#counts.get(route.id);
        return count === undefined ? [] : [{ route: takingRoute(route), alert_count: count }];
      })
      .slice(0, MOST_OTHERS);
  }
}

function takingRoute({ id, name, matchers }: RouteConfig): TakingRoute {
  return id === NEW_ROUTE ? { id: null, name: null, matchers } : { id, name, matchers };
}

function withPreviewed(
  routes: readonly RouteConfig[],
  { route, matchers, position }: PreviewedRoute,
): readonly RouteConfig[] {
  const fallback = routes.find(({ isDefault }) => isDefault);
  if (!fallback) throw new Error('there is no Default route');
  // The Default route takes everything, always last.
  if (route?.isDefault) return routes;
  const own = route ?? { ...fallback, id: NEW_ROUTE, isDefault: false, matchers: [] };
  const previewed = { ...own, matchers: matchers ?? own.matchers };
  const movable = routes.filter(({ isDefault }) => !isDefault);
  const others = movable.filter(({ id }) => id !== own.id);
  const stored = movable.findIndex(({ id }) => id === own.id);
  const place = position ?? (stored === -1 ? others.length : stored);
  return [...others.slice(0, place), previewed, ...others.slice(place), fallback];
}

function totalsOf(alerts: readonly Labels[], groupKey: readonly string[]): RouteTotals {
  return { alert_count: alerts.length, alert_group_count: sideOf(alerts, groupKey).alert_group_count };
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
