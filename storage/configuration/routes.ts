/** Routes in Postgres: the stores behind actors/route/ports.ts, and which Destinations are notified of a save. */
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import { destinationAddress, type Rerender, type RoutesChanged } from '../../actors/destination/messages.ts';
import type { Directory } from '../../actors/directory.ts';
import { type RouteDeleted, routeAddress, type UrgencyEdited } from '../../actors/route/messages.ts';
import type {
  Acceptance,
  AcceptDecision,
  Decision,
  RouteFields,
  RouteMoves,
  RouteRemoval,
  RouteReordering,
  RouteStore,
  RouteUpdate,
  StoredRoute,
  SuggestionStore,
} from '../../actors/route/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import type { InternalAlerts } from '../integrations/internal-alerts.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import {
  type AppendAudit,
  type Change,
  inSnapshot,
  inTransaction,
  unlessViolated,
} from '../postgres/transaction.ts';
import { readDirectory } from './directory.ts';
import {
  arrange,
  insertRoute,
  lockOrder,
  lockRoutes,
  NAME_RULE,
  raiseOrder,
  readRouteList,
  readRoutes,
} from './route-rows.ts';

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

/** What moving the open Alert Groups of a Route reads and writes (routes §8). */
export function createRouteMoves(sql: Sql, appendAudit: AppendAudit): RouteMoves {
  return {
    async newestNumber() {
      // Index: alert_groups_number.
      const [row] = await sql<{ number: number | null }[]>`select max(number) as number from alert_groups`;
      return row?.number ?? 0;
    },

    async openGroups(routeId, upTo, limit) {
      // Index: alert_groups_route. Without an order, so that each page reads no more than itself.
      const rows = await sql<{ id: PublicId }[]>`
        select id from alert_groups
        where route_id = ${routeId} and status <> 'resolved' and number <= ${upTo}
        limit ${limit}`;
      return rows.map(({ id }) => id);
    },

    recordMove: ({ id, name }, count, author) =>
      inTransaction(sql, async (tx) => {
        const action = 'route.open_alert_groups_moved';
        const details = { moved: count };
        await appendAudit(tx, auditEntry(author, { action, resourceId: id, resourceName: name, details }));
      }),
  };
}

/** What the save of a Route means for messages: which Destinations joined or left, and what shows something else. */
type Shown = Pick<RouteFields, 'destination_ids' | 'urgent' | 'policy'>;

/** Tells them with the change itself (delivery §2, §10). */
async function tellDestinations(
  tx: Transaction,
  routeId: PublicId,
  { before, after }: { readonly before: Shown; readonly after: Shown },
  at: Micros,
): Promise<void> {
  const joined = after.destination_ids.filter((id) => !before.destination_ids.includes(id));
  const left = before.destination_ids.filter((id) => !after.destination_ids.includes(id));
  const stayed = after.destination_ids.filter((id) => before.destination_ids.includes(id));
  const rerendered = looksOf(before) === looksOf(after) ? [] : stayed;
  const hasOtherTemplates = templatesOf(before) !== templatesOf(after);
  await enqueueInbox(
    tx,
    [
      ...(hasOtherTemplates ? [{ to: routeAddress(routeId), message: { type: 'templates_saved' } }] : []),
      ...joined.map((id) => ({ to: destinationAddress(id), message: joinedBy(routeId) })),
      ...left.map((id) => ({ to: destinationAddress(id), message: leftBy(routeId) })),
      ...rerendered.map((id) => ({ to: destinationAddress(id), message: renderedAnew(routeId) })),
    ],
    at,
  );
}

/** What of a Route a message is laid out with. */
function looksOf(shown: Shown): string {
  const { language, snooze_durations_seconds } = shown.policy;
  return JSON.stringify([shown.urgent, language, snooze_durations_seconds, templatesOf(shown)]);
}

/** In one order: stored JSON has its members in another one than a request. */
function templatesOf({ policy: { templates } }: Shown): string {
  return JSON.stringify(Object.entries(templates).sort());
}

function joinedBy(routeId: PublicId): RoutesChanged {
  return { type: 'routes_changed', joined: [routeId], left: [] };
}

function leftBy(routeId: PublicId): RoutesChanged {
  return { type: 'routes_changed', joined: [], left: [routeId] };
}

function renderedAnew(routeId: PublicId): Rerender {
  return { type: 'rerender', routeId };
}

/** Suggested Routes: accepted in a transaction that nobody else accepts in, and hidden by users (routes §10). */
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
