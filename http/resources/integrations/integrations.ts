/** Integrations: list, create, read, update, delete, and their tokens (ingestion §2, api §10). */
import * as v from 'valibot';
import type { IntegrationPlace, StoredIntegration } from '../../../actors/integration/ports.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { authorOf, type Call, type Operation } from '../../operation.ts';
import { invalid, preconditionFailed } from '../../problem.ts';
import { configurationOperations, NAME_REFUSAL, PlainQuery } from '../configuration.ts';
import {
  BUILTIN,
  BUILTIN_REFUSAL,
  IntegrationInput,
  type IntegrationOperationsDeps,
  IntegrationShape,
  integrationBody,
  integrationErrors,
  integrationFields,
} from './shapes.ts';
import { integrationTokenOperations } from './tokens.ts';

export function integrationOperations(deps: IntegrationOperationsDeps): readonly Operation[] {
  const { store, directory, hints, ingestUrl } = deps;

  /** Before the answer: the next Snapshot is taken with the change. */
  const announce = async (id: PublicId) => {
    deps.messageWaits(id);
    await directory.reload();
    hints.send({ type: 'integration', id });
  };

  return [
    ...configurationOperations({
      names: ['Integration', 'Integrations'],
      tag: 'Integrations',
      path: '/integrations',
      id: ['integration_id', 'NT'],
      noun: 'Integration',
      words: {
        create: ['Create an Integration', 'Then create a token, with which the sender posts Snapshots.'],
        get: ['Read an Integration', 'With its addresses, its Heartbeat and what is wrong.'],
        update: ['Update an Integration', 'The built-in Integration cannot be changed.'],
        delete: [
          'Delete an Integration; its tokens stop and its firing Alerts resolve',
          'Its Alerts stay readable.',
        ],
      },
      shape: IntegrationShape,
      input: IntegrationInput,
      refusals: {
        create: [NAME_REFUSAL],
        update: [NAME_REFUSAL, BUILTIN_REFUSAL],
        delete: [BUILTIN_REFUSAL],
      },
      list: {
        words: [
          'List Integrations, the built-in one first, then by name',
          'With what is wrong with each, in `warnings`.',
        ],
        answer: 'A page of Integrations',
        query: PlainQuery,
        place: v.tuple([v.number(), v.string(), v.string()]),
        filters: () => ({}),
        async page(_call, after, limit) {
          const { integrations: items, next } = await store.page(after as IntegrationPlace | null, limit);
          return { items, next };
        },
      },
      body: (integration) => integrationBody(integration, ingestUrl),
      read: (id) => store.read(id),
      async create(call) {
        const errors = integrationErrors(call.body);
        if (errors.length > 0) return { refuse: invalid(errors) };
        const created = await store.create(integrationFields(call.body, null), authorOf(call));
        if (created === 'name_taken') return created;
        await announce(created.id);
        return { saved: created };
      },
      async update(call, id) {
        const update = await store.update(id, (current) => decide(call, current), authorOf(call));
        if (update.outcome === 'refused') return { refuse: update.refusal };
        if (update.outcome === 'saved') await announce(id);
        return 'integration' in update ? { saved: update.integration } : update.outcome;
      },
      async remove(call, id, isCurrent) {
        const removal = await store.remove(id, isCurrent, authorOf(call));
        if (removal === 'builtin') return { refuse: BUILTIN };
        if (removal !== 'removed') return removal;
        await deps.tokens.invalidate();
        await announce(id);
        return removal;
      },
    }),

    ...integrationTokenOperations(deps),
  ];
}

/** Stale before meaning, meaning before conflicts (api §1.3). */
function decide(call: Call<unknown, IntegrationInput>, current: StoredIntegration) {
  if (!call.ifMatch?.matches(current.version)) return { refuse: preconditionFailed() };
  const errors = integrationErrors(call.body);
  if (errors.length > 0) return { refuse: invalid(errors) };
  return current.builtin ? { refuse: BUILTIN } : { save: integrationFields(call.body, current) };
}
