/** Suggested Routes: list, accept, dismiss (routes §10). */
import * as v from 'valibot';
import type { AcceptDecision, SuggestionStore } from '../../../actors/route/ports.ts';
import {
  SUGGESTION_IDS,
  type Suggestion,
  type SuggestionId,
  suggestionsFor,
} from '../../../actors/route/suggestions.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, type FieldError, invalid } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { publicId } from '../../schema/fields.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { nameTaken } from '../configuration.ts';
import { destinationErrors } from './checks.ts';
import { announcing, createdAnswer, OF_ROUTE, type RouteAnnouncement, RouteInputShape } from './shapes.ts';

export interface SuggestionDeps extends RouteAnnouncement {
  readonly suggestions: SuggestionStore;
}

const SUGGESTION_NAME = {
  suggestion_id: '`heartbeat_lost`: of senders that fell silent; `internal_alerts`: of all Internal alerts.',
};
const SUGGESTION = { suggestion_id: SUGGESTION_IDS } as const;

const AcceptInput = d.named(
  'RouteSuggestionAcceptance',
  v.object({
    destination_ids: d.described(
      v.optional(v.pipe(v.array(publicId), v.maxLength(50, 'too_long'))),
      'Ids of its Destinations, 1 to 50.',
    ),
  }),
  'How to create a suggested Route.',
);
type AcceptInput = v.InferOutput<typeof AcceptInput>;

const SuggestionShape = d.named(
  'RouteSuggestion',
  v.object({
    id: d.described(
      v.picklist(SUGGESTION_IDS),
      '`heartbeat_lost`: alerts about senders that fell silent; `internal_alerts`: all Internal alerts.',
    ),
    route: d.described(RouteInputShape, 'The Route that would be created.'),
  }),
  'A Route for Internal alerts which the Default route takes now.',
);

const OBSOLETE = conflict(
  'suggestion_obsolete',
  'This suggestion does not apply any more. Read the list again.',
);

export function routeSuggestionOperations(deps: SuggestionDeps): readonly Operation[] {
  const { suggestions } = deps;
  const announce = announcing(deps);
  return [
    operation({
      id: 'listRouteSuggestions',
      method: 'GET',
      path: '/route-suggestions',
      tag: 'Routes',
      summary: 'List suggested Routes',
      description: 'Offered while the Default route would take Internal alerts.',
      needs: 'routes:read',
      answers: {
        200: { description: 'What applies and you did not dismiss', schema: itemsOf(SuggestionShape) },
      },
      async handle({ identity, directory }) {
        const applying = suggestionsFor(directory);
        const isUser = identity?.kind === 'user' && applying.length > 0;
        const hidden = isUser ? await suggestions.dismissedBy(identity.id) : new Set<string>();
        const items = applying
          .filter(({ id }) => !hidden.has(id))
          .map(({ id, fields }) => ({ id, route: fields }));
        return { status: 200, body: { items } };
      },
    }),

    operation({
      id: 'acceptRouteSuggestion',
      method: 'POST',
      path: '/route-suggestions/{suggestion_id}/accept',
      paths: SUGGESTION_NAME,
      tag: 'Routes',
      summary: 'Create a suggested Route',
      description: 'It is put before the Default route.',
      needs: 'routes:write',
      words: SUGGESTION,
      body: AcceptInput,
      bodyOptional: true,
      answers: { 201: OF_ROUTE },
      refusals: [
        [409, 'conflict', 'suggestion_obsolete'],
        [409, 'conflict', 'name_taken'],
      ],
      async handle(call) {
        const id = suggestionId(call);
        const accepted = await suggestions.accept<Answer>(
          (directory) => decide(suggestionsFor(directory), id, call.body, directory.destinationsById),
          id,
          authorOf(call),
        );
        switch (accepted.outcome) {
          case 'refused':
            return accepted.refusal;
          case 'name_taken':
            return nameTaken('Route');
          case 'created':
            await announce(accepted.route.id);
            return createdAnswer(accepted.route);
        }
      },
    }),

    operation({
      id: 'dismissRouteSuggestion',
      method: 'POST',
      path: '/route-suggestions/{suggestion_id}/dismiss',
      paths: SUGGESTION_NAME,
      tag: 'Routes',
      summary: 'Hide a suggestion from yourself',
      description: 'Others still see it.',
      needs: 'routes:read',
      credential: 'user',
      words: SUGGESTION,
      answers: { 204: { description: 'Hidden' } },
      refusals: [[409, 'conflict', 'suggestion_obsolete']],
      async handle(call) {
        const id = suggestionId(call);
        if (!suggestionsFor(call.directory).some((suggestion) => suggestion.id === id)) return OBSOLETE;
        await suggestions.dismiss(call.principal().id, id, call.now);
        return { status: 204 };
      },
    }),
  ];
}

function decide(
  applying: readonly Suggestion[],
  id: SuggestionId,
  { destination_ids: destinations = [] }: AcceptInput,
  destinationsById: Parameters<typeof destinationErrors>[1],
): AcceptDecision<Answer> {
  const suggestion = applying.find((candidate) => candidate.id === id);
  if (!suggestion) return { refuse: OBSOLETE };
  const errors = acceptErrors(id, destinations, destinationsById);
  if (errors.length > 0) return { refuse: invalid(errors) };
  return { create: { ...suggestion.fields, destination_ids: destinations }, below: suggestion.below };
}

function acceptErrors(
  id: SuggestionId,
  destinations: readonly PublicId[],
  destinationsById: Parameters<typeof destinationErrors>[1],
): readonly FieldError[] {
  if (id !== 'internal_alerts' || destinations.length > 0) {
    return destinationErrors(destinations, destinationsById);
  }
  const detail = 'Name a Destination that will tell people of the Internal alerts.';
  return [{ pointer: '/destination_ids', code: 'required', detail }];
}

/** The path takes nothing else. */
function suggestionId({ params }: Pick<Call, 'params'>): SuggestionId {
  return params.suggestion_id as string as SuggestionId;
}
