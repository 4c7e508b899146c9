/** Suggested Routes: accepted in a transaction that nobody else accepts in, and hidden by users (routes §10). */

import type { Directory } from '../actors/directory.ts';
import type { Acceptance, AcceptDecision, SuggestionStore } from '../actors/route/ports.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import { readDirectory } from './directory-rows.ts';
import type { Sql } from './records.ts';
import { arrange, insertRoute, lockOrder, lockRoutes, NAME_RULE } from './route-order.ts';
import { readRoutes } from './route-rows.ts';
import { type Change, inTransaction, unlessViolated } from './transaction.ts';

export function createSuggestionStore(sql: Sql, appendAudit: AppendAudit): SuggestionStore {
  return {
    async dismissedBy(userId) {
      const rows = await sql<{ suggestion_id: string }[]>`
        select suggestion_id from route_suggestion_dismissals where user_id = ${userId}`;
      return new Set(rows.map((row) => row.suggestion_id));
    },

    async dismiss(userId, suggestionId, at) {
      await sql`
        insert into route_suggestion_dismissals (user_id, suggestion_id, dismissed_at)
        values (${userId}, ${suggestionId}, ${at})
        on conflict do nothing`;
    },

    accept: (decide, suggestionId, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' }, () =>
        inTransaction(sql, (tx) => accept({ tx, appendAudit, author }, decide, suggestionId)),
      ),
  };
}

async function accept<Refusal>(
  change: Change,
  decide: (directory: Directory) => AcceptDecision<Refusal>,
  suggestionId: string,
): Promise<Acceptance<Refusal>> {
  const { tx } = change;
  await lockOrder(tx);
  const decision = decide((await readDirectory(tx)).directory);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  await lockRoutes(tx);
  const id = await insertRoute(change, decision.create, { suggestion_id: suggestionId });
  const others = (await readRoutes(tx)).filter((route) => !route.isDefault && route.id !== id);
  await arrange(
    tx,
    placed(
      id,
      others.map((route) => route.id),
      decision.below,
    ),
  );
  const route = (await readRoutes(tx)).find((candidate) => candidate.id === id);
  if (!route) throw new Error(`Route ${id} was just stored and yet is not there`);
  return { outcome: 'created', route };
}

function placed(id: PublicId, others: readonly PublicId[], below: PublicId | null): PublicId[] {
  const place = below === null ? 0 : others.indexOf(below) + 1;
  return [...others.slice(0, place), id, ...others.slice(place)];
}
