/** Destinations: list, create, read, update, delete (delivery §13, webhooks §1, §8, api §15). */
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { destinationAddress } from '../../../actors/destination/messages.ts';
import type { DestinationFilter, StoredDestination } from '../../../actors/destination/ports.ts';
import type { Directory } from '../../../actors/directory.ts';
import type { Micros } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { authorOf, type Operation } from '../../operation.ts';
import { preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { pageQuery } from '../../schema/page.ts';
import { DestinationType } from '../../schema/words.ts';
import {
  byAge,
  configurationOperations,
  NAME_REFUSAL,
  PLACE_BY_AGE,
  type PlaceByAge,
} from '../configuration.ts';
import {
  DestinationInput,
  type DestinationOperationsDeps,
  DestinationShape,
  destinationBody,
  judgedSave,
  NO_CONNECTION,
  provedToWork,
  tellSaved,
} from './saving.ts';

const SAVE_REFUSALS = [NAME_REFUSAL, [503, 'interactive-budget-exhausted', '']] as const;

const ListQuery = v.object({
  ...pageQuery,
  type: d.described(v.optional(v.array(DestinationType)), 'Only this type.'),
  health: d.described(
    v.optional(v.array(v.picklist(['healthy', 'broken']))),
    '`healthy` ones, or `broken` ones that refused what was sent.',
  ),
  route: d.described(v.optional(v.array(publicId)), 'Only Destinations of this Route.'),
});

export function destinationOperations(deps: DestinationOperationsDeps): readonly Operation[] {
  const { store, directory } = deps;
  const hint = (id: PublicId) => deps.hints.send({ type: 'destination', id });

  return configurationOperations({
    names: ['Destination', 'Destinations'],
    tag: 'Destinations',
    path: '/destinations',
    id: ['destination_id', 'DS'],
    noun: 'Destination',
    words: {
      create: [
        'Create a Destination; a messenger is checked first',
        'A messenger that fails its check is 422 `destination_check_failed`, and nothing is stored.',
      ],
      get: ['Read a Destination', 'Secrets are never answered, only whether there is one.'],
      update: [
        'Update a Destination: a messenger is checked first, a Broken webhook is tried again at once',
        'What is left out stays. A messenger that fails its check is 422 `destination_check_failed`.',
      ],
      delete: [
        'Delete a Destination: what waits is not delivered, and its secrets are wiped',
        'It leaves every Route.',
      ],
    },
    shape: DestinationShape,
    input: DestinationInput,
    created: {
      description: 'The Destination and its signing secret',
      schema: v.object({
        destination: DestinationShape,
        signing_secret: d.textOrNull(
          'Signs requests of a webhook in events mode, `whsec_…`. In this answer only; null for others.',
        ),
      }),
      etag: true,
    },
    refusals: { create: SAVE_REFUSALS, update: SAVE_REFUSALS },
    list: {
      words: ['List Destinations, oldest first', 'Secrets are never answered, only whether there is one.'],
      answer: 'Destinations',
      query: ListQuery,
      place: PLACE_BY_AGE,
      filters: ({ type = null, health = null, route = null }) => ({ type, health, route }),
      async page({ query, directory }, after, limit) {
        const { type = null, health = null, route = null } = query;
        const filter: DestinationFilter = { types: type, health, ids: route && idsOn(directory, route) };
        return byAge(await store.page(filter, after as PlaceByAge | null, limit));
      },
    },
    body: (destination) => destinationBody(destination, directory.current()),
    read: (id) => store.read(id),
    async create(call) {
      const judged = await judgedSave(deps, call, null);
      if ('refuse' in judged) return judged;
      const decision = judged.decide(null);
      if ('refuse' in decision) return decision;
      const created = await store.create(decision.save, authorOf(call));
      if (created === 'name_taken') return created;
      if (created === 'no_connection') return { refuse: NO_CONNECTION };
      const { destination, signingSecret } = created;
      await directory.reload();
      hint(destination.id);
      const body = destinationBody(destination, directory.current());
      return { saved: destination, body: { destination: body, signing_secret: signingSecret } };
    },
    async update(call, id) {
      const before = await store.read(id);
      if (!before) return 'unknown';
      const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
      if (!isCurrent(before.version)) return 'stale';
      const judged = await judgedSave(deps, call, before);
      if ('refuse' in judged) return judged;
      // Somebody else may have been quicker while it was checked.
      const decide = (current: StoredDestination) =>
        isCurrent(current.version) ? judged.decide(current) : { refuse: preconditionFailed() };
      const update = await store.update(id, decide, authorOf(call));
      if (update.outcome === 'refused') return { refuse: update.refusal };
      if (!('destination' in update)) {
        return update.outcome === 'no_connection' ? { refuse: NO_CONNECTION } : update.outcome;
      }
      if (update.outcome === 'saved') await directory.reload();
      const isNews = update.outcome === 'saved' || !isDeepStrictEqual(update.destination.found, before.found);
      if (isNews) hint(id);
      return { saved: await afterSave(deps, update.destination, call.now) };
    },
    async remove(call, id, isCurrent) {
      const removal = await store.remove(id, isCurrent, authorOf(call));
      if (removal === 'unknown' || removal === 'stale') return removal;
      const left = routesOf(directory.current(), id);
      await directory.reload();
      deps.settings.forget(id);
      deps.client.release(`destination/${id}`);
      deps.system.tell(destinationAddress(id), { type: 'deleted' });
      hint(id);
      for (const route of left) deps.hints.send({ type: 'route', id: route });
      return 'removed';
    },
  });
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

function idsOn(directory: Directory, routeIds: readonly PublicId[]): readonly PublicId[] {
  return directory.routes
    .filter((route) => routeIds.includes(route.id))
    .flatMap((route) => route.destinationIds);
}

function routesOf(directory: Directory, id: PublicId): readonly PublicId[] {
  return directory.routes.filter((route) => route.destinationIds.includes(id)).map((route) => route.id);
}
