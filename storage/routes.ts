/** Routes in Postgres: the store behind actors/route/ports.ts. */
import { auditDiff, auditEntry } from '../actors/audit.ts';
import { type RouteDeleted, routeAddress, type UrgencyEdited } from '../actors/route/messages.ts';
import type {
  Decision,
  RouteFields,
  RouteRemoval,
  RouteReordering,
  RouteStore,
  RouteUpdate,
  StoredRoute,
} from '../actors/route/ports.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import { enqueueInbox } from './inbox.ts';
import type { InternalAlerts } from './internal-alerts.ts';
import type { Sql, Transaction } from './records.ts';
import { tellDestinations } from './route-destinations.ts';
import { arrange, insertRoute, lockOrder, lockRoutes, NAME_RULE, raiseOrder } from './route-order.ts';
import { readRouteList, readRoutes } from './route-rows.ts';
import { type Change, inSnapshot, inTransaction, unlessViolated } from './transaction.ts';

export interface RouteStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly internalAlerts: InternalAlerts;
}

export function createRouteStore({ sql, appendAudit, internalAlerts }: RouteStoreDeps): RouteStore {
  return {
    list: () => inSnapshot(sql, readRouteList),

    async read(id) {
      const routes = await readRoutes(sql);
      return routes.find((route) => route.id === id) ?? null;
    },

    create: (fields, author) =>
      unlessViolated(NAME_RULE, 'name_taken', () =>
        inTransaction(sql, (tx) => createRoute({ tx, appendAudit, author }, fields)),
      ),

    update: (id, decide, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' }, () =>
        internalAlerts.announced(
          inTransaction(sql, (tx) => updateRoute({ tx, appendAudit, author }, internalAlerts, id, decide)),
        ),
      ),

    remove: (id, isCurrent, author) =>
      internalAlerts.announced(
        inTransaction(sql, (tx) => removeRoute({ tx, appendAudit, author }, internalAlerts, id, isCurrent)),
      ),

    reorder: (ids, isCurrent, author) =>
      inTransaction(sql, (tx) => reorderRoutes({ tx, appendAudit, author }, ids, isCurrent)),
  };
}

async function createRoute(change: Change, fields: RouteFields): Promise<StoredRoute> {
  return requireRoute(change.tx, await insertRoute(change, fields));
}

async function updateRoute<Refusal>(
  change: Change,
  internalAlerts: InternalAlerts,
  id: PublicId,
  decide: (current: StoredRoute) => Decision<Refusal>,
): Promise<RouteUpdate<Refusal>> {
  const { tx, appendAudit, author } = change;
  if (!(await lockRoute(tx, id))) return { outcome: 'unknown' };
  const current = await requireRoute(tx, id);
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const fields = decision.save;
  const diff = auditDiff(current.fields, fields);
  if (diff.length === 0) return { outcome: 'unchanged', route: current };
  await tx`
    update routes set
      version = version + 1,
      name = ${fields.name},
      description = ${fields.description},
      matchers = ${JSON.stringify(fields.matchers)}::text::jsonb,
      urgent = ${fields.urgent},
      group_key = ${JSON.stringify(fields.group_key)}::text::jsonb,
      destination_ids = ${JSON.stringify(fields.destination_ids)}::text::jsonb,
      policy = ${JSON.stringify(fields.policy)}::text::jsonb
    where id = ${id}`;
  await internalAlerts.entityChanged(tx, { id, name: fields.name, staticLabels: {} }, author.at);
  if (fields.urgent && !current.fields.urgent) await tellRoute(change, id, { type: 'urgency_edited' });
  await tellDestinations(tx, id, { before: current.fields, after: fields }, author.at);
  const entry = { action: 'route.updated', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'saved', route: await requireRoute(tx, id) };
}

/**
 * Locks the Route against the creation of Alert Groups, which hold it shared: either they are counted here, or they
 * find it deleted (routes §5).
 */
async function removeRoute(
  change: Change,
  internalAlerts: InternalAlerts,
  id: PublicId,
  isCurrent: ((version: number) => boolean) | null,
): Promise<RouteRemoval> {
  const { tx, appendAudit, author } = change;
  await lockOrder(tx);
  if (!(await lockRoute(tx, id))) return { outcome: 'unknown' };
  const route = await requireRoute(tx, id);
  if (route.isDefault) return { outcome: 'default_route' };
  if (isCurrent && !isCurrent(route.version)) return { outcome: 'stale' };
  const count = route.openAlertGroups;
  if (count > 0) return { outcome: 'has_open_alert_groups', count };
  await tx`update routes set deleted_at = ${author.at} where id = ${id}`;
  await raiseOrder(tx);
  await internalAlerts.entityDeleted(tx, id, author.at);
  await tellRoute(change, id, { type: 'deleted', at: author.at });
  const entry = { action: 'route.deleted', resourceId: id, resourceName: route.fields.name };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'removed' };
}

/** A Storm of the Route may hold Alert Groups that this concerns. */
function tellRoute(
  { tx, author }: Change,
  id: PublicId,
  message: UrgencyEdited | RouteDeleted,
): Promise<void> {
  return enqueueInbox(tx, [{ to: routeAddress(id), message }], author.at);
}

async function reorderRoutes(
  change: Change,
  ids: readonly PublicId[],
  isCurrent: (version: number) => boolean,
): Promise<RouteReordering> {
  const { tx, appendAudit, author } = change;
  await lockOrder(tx);
  await lockRoutes(tx);
  const list = await readRouteList(tx);
  const isDefault = (id: PublicId) => list.routes.some((route) => route.id === id && route.isDefault);
  if (ids.some(isDefault)) return { outcome: 'default_route' };
  if (!isCurrent(list.version)) return { outcome: 'stale' };
  const before = list.routes.filter((route) => !route.isDefault).map((route) => route.id);
  if (!sameSet(before, ids)) return { outcome: 'set_mismatch' };
  const diff = auditDiff({ route_ids: before }, { route_ids: ids });
  if (diff.length === 0) return { outcome: 'unchanged', list };
  await arrange(tx, ids);
  await raiseOrder(tx);
  const entry = { action: 'route.reordered', resourceId: null, resourceName: null, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'reordered', list: await readRouteList(tx) };
}

/** Whether both hold the same ids, each once. */
function sameSet(present: readonly PublicId[], wanted: readonly PublicId[]): boolean {
  const ids = new Set(wanted);
  return ids.size === wanted.length && ids.size === present.length && present.every((id) => ids.has(id));
}

async function lockRoute(tx: Transaction, id: PublicId): Promise<boolean> {
  const found = await tx`select 1 from routes where id = ${id} and deleted_at is null for update`;
  return found.length > 0;
}

async function requireRoute(tx: Transaction, id: PublicId): Promise<StoredRoute> {
  const routes = await readRoutes(tx);
  const route = routes.find((candidate) => candidate.id === id);
  if (!route) throw new Error(`Route ${id} is locked and yet not there`);
  return route;
}
