/** Moves the open Alert Groups of a Route to the Default route, each in a step of its own (routes §7, §8). */
import * as v from 'valibot';
import { alertGroupAddress, type MoveReply, type RouteMoved } from '../../../actors/alert-group/messages.ts';
import type { RouteMoves } from '../../../actors/route/ports.ts';
import type { ActorSystem } from '../../../runtime/actor/index.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { authorOf, type Operation, operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { wholeNumber } from '../../schema/fields.ts';
import { DEFAULT_IMMUTABLE, IS_DEFAULT, ROUTE_ID, routeId } from './shapes.ts';

export interface RouteMoveDeps {
  readonly moves: RouteMoves;
  readonly system: Pick<ActorSystem, 'ask'>;
}

/** Alert Groups that are read, and asked, at the same time: half of what one actor's owner takes of asks in all. */
const PAGE = 50;
/** Alert Groups of a request that asks for a portion. */
const MOST_AT_ONCE = 1_000;

export function routeMoveOperations({ moves, system }: RouteMoveDeps): readonly Operation[] {
  return [
    operation({
      id: 'moveOpenAlertGroups',
      method: 'POST',
      path: '/routes/{route_id}/move-open-alert-groups',
      tag: 'Routes',
      summary: 'Move the open Alert Groups of a Route to the Default route',
      description: 'Each in a step of its own. A 503 may leave some unmoved; repeat it.',
      needs: 'routes:write',
      ids: ROUTE_ID,
      query: v.object({
        limit: v.optional(
          d.described(
            wholeNumber(1, MOST_AT_ONCE),
            'Most Alert Groups that are moved, all without it. When fewer were moved, none is left.',
          ),
        ),
      }),
      answers: {
        200: {
          description: 'How many were moved',
          schema: v.object({ moved: d.count('How many Alert Groups said that they were moved.') }),
        },
      },
      refusals: [DEFAULT_IMMUTABLE],
      async handle(call) {
        const route = call.directory.routesById.get(routeId(call));
        if (!route || route.deleted) return notFound();
        if (route.isDefault) return IS_DEFAULT;
        const fallback = call.directory.routes.find(({ isDefault }) => isDefault);
        if (!fallback) throw new Error('there is no Default route');
        const { count, error } = await moveAll(moves, system, {
          fromRouteId: route.id,
          toRouteId: fallback.id,
          limit: call.query.limit ?? Number.POSITIVE_INFINITY,
        });
        // What was moved is moved, whatever became of the rest.
        if (count > 0) await moves.recordMove(route, count, authorOf(call));
        if (error !== null) throw error;
        return { status: 200, body: { moved: count } };
      },
    }),
  ];
}

interface Outcome {
  readonly count: number;
  /** Why it stopped before the end; null when it did not. */
  readonly error: Error | null;
}

/**
 * A group that moved is gone from the next page, and one that resolved first, too: a page of which none moved may be
 * followed by others. New ones are left alone, and one that stays without moving is not waited for, so the pages come to
 * an end. A group without an answer ends it: whether that one moved nobody knows.
 * @param way `limit`: most groups that are moved
 */
async function moveAll(
  moves: RouteMoves,
  system: Pick<ActorSystem, 'ask'>,
  { limit, ...way }: Pick<RouteMoved, 'fromRouteId' | 'toRouteId'> & { readonly limit: number },
): Promise<Outcome> {
  const upTo = await moves.newestNumber();
  const stayed = new Set<PublicId>();
  let count = 0;
  while (count < limit) {
    const page = await moves.openGroups(way.fromRouteId, upTo, Math.min(PAGE, limit - count));
    const told = await Promise.allSettled(page.map((id) => move(system, id, way)));
    const moved = told.filter((one) => one.status === 'fulfilled' && one.value).length;
    count += moved;
    const failed = told.find((one) => one.status === 'rejected');
    if (failed) return { count, error: failed.reason as Error };
    if (moved > 0) continue;
    if (page.every((id) => stayed.has(id))) break;
    for (const id of page) stayed.add(id);
  }
  return { count, error: null };
}

async function move(
  system: Pick<ActorSystem, 'ask'>,
  id: PublicId,
  way: Pick<RouteMoved, 'fromRouteId' | 'toRouteId'>,
): Promise<boolean> {
  const message: RouteMoved = { type: 'route_moved', ...way };
  // The reply of an Alert Group to it is a MoveReply (messages.ts).
  return ((await system.ask(alertGroupAddress(id), message)) as MoveReply).moved;
}
