/** The evaluation order of Routes: its locks, its version, and how a Route gets its place in it. */
import { auditDiff, auditEntry } from '../actors/audit.ts';
import type { RouteFields } from '../actors/route/ports.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import type { Transaction } from './records.ts';
import type { Change } from './transaction.ts';

export const NAME_RULE = 'routes_live_name';

/** Whoever changes the order takes this lock before any other. */
export async function lockOrder(tx: Transaction): Promise<void> {
  await tx`select 1 from route_order for update`;
}

export async function raiseOrder(tx: Transaction): Promise<void> {
  await tx`update route_order set version = version + 1`;
}

/** In the order of ids, as the creation of Alert Groups does: neither ever waits for the other in a circle. */
export async function lockRoutes(tx: Transaction): Promise<void> {
  await tx`select 1 from routes where deleted_at is null order by id for update`;
}

/** Puts all Routes but the Default one into this order. Lock them first. */
export async function arrange(tx: Transaction, ids: readonly PublicId[]): Promise<void> {
  await tx`
    update routes set position = wanted.place
    from unnest(${[...ids]}::text[]) with ordinality as wanted (id, place)
    where routes.id = wanted.id`;
}

/** Adds a Route directly before the Default route, with its Audit entry. */
export async function insertRoute(
  { tx, appendAudit, author }: Change,
  fields: RouteFields,
  details: Readonly<Record<string, unknown>> = {},
): Promise<PublicId> {
  await raiseOrder(tx);
  const id = newPublicId('RT');
  await tx`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at
    )
    select
      ${id}, 1, coalesce(max(position) + 1, 0), false, ${fields.name}, ${fields.description},
      ${JSON.stringify(fields.matchers)}::text::jsonb, ${fields.urgent},
      ${JSON.stringify(fields.group_key)}::text::jsonb, ${JSON.stringify(fields.destination_ids)}::text::jsonb,
      ${JSON.stringify(fields.policy)}::text::jsonb, ${author.at}
    from routes where deleted_at is null and not is_default`;
  const diff = auditDiff(null, fields);
  const entry = { action: 'route.created', resourceId: id, resourceName: fields.name, diff, details };
  await appendAudit(tx, auditEntry(author, entry));
  return id;
}
