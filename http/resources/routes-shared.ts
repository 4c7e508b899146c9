/** What the operations on Routes share. */
import type { DirectorySource } from '../../actors/directory.ts';
import type { HintBus } from '../../actors/effects.ts';
import type { StoredRoute } from '../../actors/route/ports.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Call } from '../operation.ts';
import { conflict, refuse } from '../problem.ts';
import { RouteShape, routeBody } from './routes-shapes.ts';

export const ROUTE_ID = { route_id: 'RT' } as const;

export const OF_ROUTE = { description: 'The Route', schema: RouteShape, etag: true } as const;

export const DEFAULT_IMMUTABLE = [409, 'default-route-immutable', 'default-route-immutable'] as const;

export const IS_DEFAULT = refuse({
  status: 409,
  type: 'default-route-immutable',
  detail: 'The Default route is always last and cannot be moved or deleted.',
});

export const NAME_TAKEN = conflict('name_taken', 'Another Route has this name. Choose a different one.');

export interface RouteAnnouncement {
  readonly directory: DirectorySource;
  readonly hints: HintBus;
}

/** Before the answer to a change: the next Snapshot is judged with it. A change of the order has no id. */
export function announcing({ directory, hints }: RouteAnnouncement): (id: PublicId | null) => Promise<void> {
  return async (id) => {
    await directory.reload();
    hints.send({ type: 'route', id });
  };
}

export function routeId({ params }: Pick<Call, 'params'>): PublicId {
  return params.route_id as PublicId;
}

export function routeAnswer(status: number, route: StoredRoute) {
  return { status, body: routeBody(route), etag: route.version };
}

export function createdAnswer(route: StoredRoute) {
  return { ...routeAnswer(201, route), location: `/api/v1/routes/${route.id}` };
}
