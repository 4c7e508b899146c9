/** Destinations: list, create, read, update, delete (delivery §13, webhooks §1, §8, api §15). */
import * as v from 'valibot';
import { destinationAddress } from '../../../actors/destination/messages.ts';
import type {
  DestinationFilter,
  DestinationStore,
  StoredDestination,
} from '../../../actors/destination/ports.ts';
import type { Directory } from '../../../actors/directory.ts';
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { notFound, preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import { DestinationType } from '../../schema/words.ts';
import {
  DESTINATION_ID,
  DestinationInput,
  type DestinationOperationsDeps,
  DestinationShape,
  destinationBody,
  destinationId,
  judgedSave,
  NAME_TAKEN,
  NO_CONNECTION,
  provedToWork,
  tellSaved,
} from './saving.ts';

const OF_DESTINATION = { description: 'The Destination', schema: DestinationShape, etag: true } as const;

const SAVE_REFUSALS = [
  [409, 'conflict', 'name_taken'],
  [503, 'interactive-budget-exhausted', ''],
] as const;

const LIST = 'destinations';

const ListQuery = v.object({
  ...pageQuery,
  type: d.described(v.optional(v.array(DestinationType)), 'Only this type. Repeated, any of them.'),
  health: d.described(
    v.optional(v.array(v.picklist(['healthy', 'broken']))),
    'Only healthy or Broken ones. Repeated, any of them.',
  ),
  route: d.described(
    v.optional(v.array(publicId)),
    'Id of a Route: only Destinations that it sends to. Repeated, any of them.',
  ),
});

export function destinationOperations(deps: DestinationOperationsDeps): readonly Operation[] {
  const { store, directory } = deps;

  const answer = (status: number, destination: StoredDestination): Answer => ({
    status,
    body: destinationBody(destination, directory.current()),
    etag: destination.version,
  });

  return [
    operation({
      id: 'listDestinations',
      method: 'GET',
      path: '/destinations',
      tag: 'Destinations',
      summary: 'List Destinations, oldest first',
      description: 'Secrets are never answered; their status says whether there is one.',
      needs: 'destinations:read',
      query: ListQuery,
      answers: { 200: { description: 'Destinations', schema: pageOf(DestinationShape) } },
      handle: (call) => list(store, call),
    }),

    operation({
      id: 'createDestination',
      method: 'POST',
      path: '/destinations',
      tag: 'Destinations',
      summary:
        'Create a Destination: a messenger is checked first; the signing secret of a webhook is in this answer only',
      description:
        'A messenger that fails its check is 422 `destination_check_failed`, and nothing is stored.',
      needs: 'destinations:write',
      body: DestinationInput,
      answers: {
        201: {
          description: 'The Destination, and the secret that signs the requests of a webhook',
          schema: v.object({
            destination: d.described(DestinationShape, 'The Destination.'),
            signing_secret: d.described(
              v.nullable(v.string()),
              'The secret that signs requests of a webhook in events mode, `whsec_…`. In this answer only; null for others.',
            ),
          }),
          etag: true,
        },
      },
      refusals: SAVE_REFUSALS,
      async handle(call) {
        const judged = await judgedSave(deps, call, null);
        if ('refuse' in judged) return judged.refuse;
        const decision = judged.decide(null);
        if ('refuse' in decision) return decision.refuse;
        const created = await store.create(decision.save, authorOf(call));
        if (created === 'name_taken') return NAME_TAKEN;
        if (created === 'no_connection') return NO_CONNECTION;
        const { destination, signingSecret } = created;
        await directory.reload();
        deps.hints.send({ type: 'destination', id: destination.id });
        const body = destinationBody(destination, directory.current());
        return {
          status: 201,
          body: { destination: body, signing_secret: signingSecret },
          etag: destination.version,
          location: `/api/v1/destinations/${destination.id}`,
        };
      },
    }),

    operation({
      id: 'getDestination',
      method: 'GET',
      path: '/destinations/{destination_id}',
      tag: 'Destinations',
      summary: 'Read a Destination',
      description: 'Secrets are never answered; their status says whether there is one.',
      needs: 'destinations:read',
      ids: DESTINATION_ID,
      answers: { 200: OF_DESTINATION },
      async handle(call) {
        const destination = await store.read(destinationId(call));
        return destination ? answer(200, destination) : notFound();
      },
    }),

    operation({
      id: 'updateDestination',
      method: 'PUT',
      path: '/destinations/{destination_id}',
      tag: 'Destinations',
      summary: 'Update a Destination: a messenger is checked first, a Broken webhook is tried again at once',
      description:
        'What is left out stays. A messenger that fails its check is 422 `destination_check_failed`.',
      needs: 'destinations:write',
      ids: DESTINATION_ID,
      ifMatch: 'required',
      body: DestinationInput,
      answers: { 200: OF_DESTINATION },
      refusals: SAVE_REFUSALS,
      async handle(call) {
        const id = destinationId(call);
        const before = await store.read(id);
        if (!before) return notFound();
        if (!call.ifMatch?.matches(before.version)) return preconditionFailed();
        const judged = await judgedSave(deps, call, before);
        if ('refuse' in judged) return judged.refuse;
        const update = await store.update(
          id,
          // Somebody else may have been quicker while it was checked.
          (current) =>
            call.ifMatch?.matches(current.version)
              ? judged.decide(current)
              : { refuse: preconditionFailed() },
          authorOf(call),
        );
        switch (update.outcome) {
          case 'unknown':
            return notFound();
          case 'name_taken':
            return NAME_TAKEN;
          case 'no_connection':
            return NO_CONNECTION;
          case 'refused':
            return update.refusal;
          case 'unchanged':
            if (update.destination.channelName !== before.channelName) {
              deps.hints.send({ type: 'destination', id });
            }
            return answer(200, await afterSave(deps, update.destination, call.now));
          case 'saved':
            await directory.reload();
            deps.hints.send({ type: 'destination', id });
            return answer(200, await afterSave(deps, update.destination, call.now));
        }
      },
    }),

    operation({
      id: 'deleteDestination',
      method: 'DELETE',
      path: '/destinations/{destination_id}',
      tag: 'Destinations',
      summary: 'Delete a Destination: what waits is not delivered, and its secrets are wiped',
      description: 'It leaves every Route.',
      needs: 'destinations:write',
      ids: DESTINATION_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      async handle(call) {
        const id = destinationId(call);
        const { ifMatch } = call;
        const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
        const removal = await store.remove(id, isCurrent, authorOf(call));
        if (removal === 'unknown') return notFound();
        if (removal === 'stale') return preconditionFailed();
        const left = routesOf(directory.current(), id);
        await directory.reload();
        deps.settings.forget(id);
        deps.client.release(`destination/${id}`);
        deps.system.tell(destinationAddress(id), { type: 'deleted' });
        deps.hints.send({ type: 'destination', id });
        for (const route of left) deps.hints.send({ type: 'route', id: route });
        return { status: 204 };
      },
    }),
  ];
}

/** A messenger was checked before it was saved: that ends Broken (delivery §13). */
async function afterSave(
  deps: DestinationOperationsDeps,
  saved: StoredDestination,
  at: Micros,
): Promise<StoredDestination> {
  tellSaved(deps, saved.id);
  return saved.fields.type === 'webhook' ? saved : provedToWork(deps, saved, at);
}

async function list(
  store: DestinationStore,
  { query, directory }: Call<v.InferOutput<typeof ListQuery>>,
): Promise<Answer> {
  const { type = null, health = null, route = null, limit = DEFAULT_LIMIT } = query;
  const filters = { type, health, route };
  const after = query.cursor === undefined ? null : readCursor(filters, query.cursor);
  if (after === 'invalid') return INVALID_CURSOR;
  const filter: DestinationFilter = { types: type, health, ids: route && idsOn(directory, route) };
  const { items, more } = await store.page(filter, after, limit);
  const last = more ? items.at(-1) : undefined;
  return {
    status: 200,
    body: {
      items: items.map((destination) => destinationBody(destination, directory)),
      next_cursor: last ? encodeCursor(LIST, filters, [last.createdAt, last.id]) : null,
    },
  };
}

function readCursor(filters: unknown, cursor: string): readonly [number, string] | 'invalid' {
  const [createdAt, id] = decodeCursor(LIST, filters, cursor) ?? [];
  return typeof createdAt === 'number' && typeof id === 'string' ? [createdAt, id] : 'invalid';
}

function idsOn(directory: Directory, routeIds: readonly PublicId[]): readonly PublicId[] {
  return directory.routes
    .filter((route) => routeIds.includes(route.id))
    .flatMap((route) => route.destinationIds);
}

function routesOf(directory: Directory, id: PublicId): readonly PublicId[] {
  return directory.routes.filter((route) => route.destinationIds.includes(id)).map((route) => route.id);
}
