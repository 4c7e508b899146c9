/** Which Route takes an Alert, with which severity, and by which Group key it is grouped (routes §5, §6). */
import { hash } from 'node:crypto';
import { base32 } from '../../runtime/public-id.ts';
import type { Directory, OrganizationSettings, RouteConfig } from '../directory.ts';
import type { Labels, SeverityLevel, Slot } from '../model.ts';
import { compileMatchers, type LabelTest, labelValue, matcherProblems } from './matcher.ts';

/** The Route list of one Directory, ready to be asked. Keep it as long as the Directory is the current one. */
export interface RouteTable {
  /** In evaluation order, without the Default route. */
  readonly routes: readonly { readonly route: RouteConfig; readonly takes: LabelTest }[];
  readonly defaultRoute: RouteConfig;
  /** Stored expressions that no longer compile; their Routes take nothing. The caller logs them. */
  readonly invalid: readonly { readonly route: RouteConfig; readonly index: number }[];
}

/** @throws when the Directory holds no Default route, which the start-up ensures */
export function compileRoutes(directory: Pick<Directory, 'routes'>): RouteTable {
  const defaultRoute = directory.routes.find((route) => route.isDefault);
  if (!defaultRoute) throw new Error('there is no Default route');
  const others = directory.routes.filter((route) => !route.isDefault);
  return {
    routes: others.map((route) => ({ route, takes: compileMatchers(route.matchers) })),
    defaultRoute,
    invalid: others.flatMap((route) =>
      matcherProblems(route.matchers).map(({ index }) => ({ route, index })),
    ),
  };
}

/** The first Route whose Matchers all match, else the Default route. `labels` include the Static labels. */
export function routeFor(table: RouteTable, labels: Labels): RouteConfig {
  for (const { route, takes } of table.routes) {
    if (takes(labels)) return route;
  }
  return table.defaultRoute;
}

export interface Severity {
  readonly level: SeverityLevel;
  /** The label's value when it is not mapped to a level, else null. */
  readonly raw: string | null;
}

/**
 * Severity of an Alert by the Organization's label and mapping, compared exactly: unmapped counts as warning, missing
 * or empty as info (routes §5 rule 7). Internal alerts do not come here; their registry names the level.
 */
export function severityOf(
  labels: Labels,
  organization: Pick<OrganizationSettings, 'severityLabel' | 'severityMapping'>,
): Severity {
  const value = labelValue(labels, organization.severityLabel);
  if (value === '') return { level: 'info', raw: null };
  const entry = organization.severityMapping.find((mapped) => mapped.value === value);
  return entry ? { level: entry.level, raw: null } : { level: 'warning', raw: value };
}

/** 130 bits of SHA-256, five a character. */
const HASH_BYTES = 17;
const HASH_LENGTH = 26;

/** The Slot of an Alert on its Route, by the Route's Group key as it is now. */
export function slotFor(route: Pick<RouteConfig, 'id' | 'groupKey'>, labels: Labels): Slot {
  const groupLabels = groupLabelsFor(route.groupKey, labels);
  return { routeId: route.id, keyHash: keyHash(groupLabels), groupLabels };
}

/** The value of every named label, `""` for one that is missing, in the order of the names. */
export function groupLabelsFor(groupKey: readonly string[], labels: Labels): Labels {
  return Object.fromEntries(groupKey.map((name) => [name, labelValue(labels, name)]));
}

/**
 * Identity of a key: a hash over its (name, value) pairs as 26 characters `[a-z2-7]`. Names are part of it, their order
 * is not.
 */
export function keyHash(groupLabels: Labels): string {
  const pairs = Object.entries(groupLabels).sort(([left], [right]) => (left < right ? -1 : 1));
  const digest = hash('sha256', JSON.stringify(pairs), 'buffer');
  return base32(digest.subarray(0, HASH_BYTES)).slice(0, HASH_LENGTH);
}

export interface LabelledAlert {
  readonly labels: Labels;
  /** Static labels that the Alert already carried and that therefore were not added, in their stored order. */
  readonly conflicts: readonly string[];
}

/**
 * Adds an Integration's Static labels to what arrived; a label the Alert carries keeps its own value (ingestion §6.2).
 * An empty value is no label, as everywhere.
 */
export function withStaticLabels(labels: Labels, staticLabels: Labels): LabelledAlert {
  const added: Record<string, string> = {};
  const conflicts: string[] = [];
  for (const [name, value] of Object.entries(staticLabels)) {
    if (Object.hasOwn(labels, name) && labels[name] !== '') conflicts.push(name);
    else added[name] = value;
  }
  return { labels: { ...labels, ...added }, conflicts };
}

/** Tells one source of a template from another. */
export function templateDigest(source: string): string {
  return hash('sha256', source, 'base64url');
}
