/** Integrations: list, create, read, update, delete, and their tokens (ingestion §2, api §10). */
import * as v from 'valibot';
import type { IntegrationPlace, StoredIntegration } from '../../../actors/integration/ports.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, invalid, notFound, preconditionFailed } from '../../problem.ts';
import { DEFAULT_LIMIT, decodeCursor, encodeCursor, INVALID_CURSOR, pageQuery } from '../../schema/page.ts';
import { pageOf } from '../../schema/shapes.ts';
import {
  BUILTIN,
  BUILTIN_REFUSAL,
  INTEGRATION_ID,
  IntegrationInput,
  type IntegrationOperationsDeps,
  IntegrationShape,
  integrationBody,
  integrationErrors,
  integrationFields,
  integrationId,
} from './shapes.ts';
import { integrationTokenOperations } from './tokens.ts';

const NAME_REFUSAL = [409, 'conflict', 'name_taken'] as const;
const OF_INTEGRATION = { description: 'The Integration', schema: IntegrationShape, etag: true } as const;
const LIST = 'integrations';

export function integrationOperations(deps: IntegrationOperationsDeps): readonly Operation[] {
  const { store, directory, hints, ingestUrl } = deps;

  const answer = (status: number, integration: StoredIntegration) => ({
    status,
    body: integrationBody(integration, ingestUrl),
    etag: integration.version,
  });

  /** Before the answer: the next Snapshot is taken with the change. */
  const announce = async (id: PublicId) => {
    deps.messageWaits(id);
    await directory.reload();
    hints.send({ type: 'integration', id });
  };

  return [
    operation({
      id: 'listIntegrations',
      method: 'GET',
      path: '/integrations',
      tag: 'Integrations',
      summary: 'List Integrations, the built-in one first, then by name',
      description: 'With what is wrong with each, in `warnings`.',
      needs: 'integrations:read',
      query: v.object(pageQuery),
      answers: { 200: { description: 'A page of Integrations', schema: pageOf(IntegrationShape) } },
      async handle({ query }) {
        const after = query.cursor === undefined ? null : readCursor(query.cursor);
        if (after === 'invalid') return INVALID_CURSOR;
        const page = await store.page(after, query.limit ?? DEFAULT_LIMIT);
        const items = page.integrations.map((integration) => integrationBody(integration, ingestUrl));
        return { status: 200, body: { items, next_cursor: page.next && encodeCursor(LIST, {}, page.next) } };
      },
    }),

    operation({
      id: 'createIntegration',
      method: 'POST',
      path: '/integrations',
      tag: 'Integrations',
      summary: 'Create an Integration',
      description: 'Then create a token, with which the sender posts Snapshots.',
      needs: 'integrations:write',
      body: IntegrationInput,
      answers: { 201: OF_INTEGRATION },
      refusals: [NAME_REFUSAL],
      async handle(call) {
        const errors = integrationErrors(call.body);
        if (errors.length > 0) return invalid(errors);
        const created = await store.create(integrationFields(call.body, null), authorOf(call));
        if (created === 'name_taken') return NAME_TAKEN;
        await announce(created.id);
        return { ...answer(201, created), location: `/api/v1/integrations/${created.id}` };
      },
    }),

    operation({
      id: 'getIntegration',
      method: 'GET',
      path: '/integrations/{integration_id}',
      tag: 'Integrations',
      summary: 'Read an Integration',
      description: 'With its addresses, its Heartbeat and what is wrong.',
      needs: 'integrations:read',
      ids: INTEGRATION_ID,
      answers: { 200: OF_INTEGRATION },
      async handle(call) {
        const integration = await store.read(integrationId(call));
        return integration ? answer(200, integration) : notFound();
      },
    }),

    operation({
      id: 'updateIntegration',
      method: 'PUT',
      path: '/integrations/{integration_id}',
      tag: 'Integrations',
      summary: 'Update an Integration',
      description: 'The built-in Integration cannot be changed.',
      needs: 'integrations:write',
      ids: INTEGRATION_ID,
      ifMatch: 'required',
      body: IntegrationInput,
      answers: { 200: OF_INTEGRATION },
      refusals: [NAME_REFUSAL, BUILTIN_REFUSAL],
      async handle(call) {
        const update = await store.update(
          integrationId(call),
          (current) => decide(call, current),
          authorOf(call),
        );
        switch (update.outcome) {
          case 'unknown':
            return notFound();
          case 'name_taken':
            return NAME_TAKEN;
          case 'refused':
            return update.refusal;
          case 'saved':
            await announce(update.integration.id);
            return answer(200, update.integration);
          case 'unchanged':
            return answer(200, update.integration);
        }
      },
    }),

    operation({
      id: 'deleteIntegration',
      method: 'DELETE',
      path: '/integrations/{integration_id}',
      tag: 'Integrations',
      summary: 'Delete an Integration; its tokens stop and its firing Alerts resolve',
      description: 'Its Alerts stay readable.',
      needs: 'integrations:write',
      ids: INTEGRATION_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      refusals: [BUILTIN_REFUSAL],
      async handle(call) {
        const id = integrationId(call);
        const { ifMatch } = call;
        const isCurrent = ifMatch && ((version: number) => ifMatch.matches(version));
        const removal = await store.remove(id, isCurrent, authorOf(call));
        switch (removal) {
          case 'unknown':
            return notFound();
          case 'stale':
            return preconditionFailed();
          case 'builtin':
            return BUILTIN;
          case 'removed':
            await deps.tokens.invalidate();
            await announce(id);
            return { status: 204 };
        }
      },
    }),

    ...integrationTokenOperations(deps),
  ];
}

const NAME_TAKEN = conflict('name_taken', 'Another Integration has this name. Choose a different one.');

/** Stale before meaning, meaning before conflicts (api §1.3). */
function decide(call: Call<unknown, IntegrationInput>, current: StoredIntegration) {
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = integrationErrors(call.body);
  if (errors.length > 0) return { refuse: invalid(errors) };
  return current.builtin ? { refuse: BUILTIN } : { save: integrationFields(call.body, current) };
}

function readCursor(cursor: string): IntegrationPlace | 'invalid' {
  const [builtin, name, id] = decodeCursor(LIST, {}, cursor) ?? [];
  return typeof builtin === 'number' && typeof name === 'string' && typeof id === 'string'
    ? [builtin, name, id]
    : 'invalid';
}
