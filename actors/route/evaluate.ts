/** Which Route takes an Alert (routes §5). */
import type { Directory, RouteConfig } from '../directory.ts';
import type { Labels } from '../model.ts';
import { compileMatchers, type LabelTest, matcherProblems } from './matcher.ts';

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
