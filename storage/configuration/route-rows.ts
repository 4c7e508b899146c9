/** Rows of Routes: read as configuration shows them, locked and put in order for a change. */
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import type { RouteDestination, RouteFields, RouteList, StoredRoute } from '../../actors/route/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import type { Change } from '../postgres/transaction.ts';

interface RouteRow extends Omit<RouteFields, 'destination_ids'> {
  readonly id: PublicId;
  readonly version: number;
  readonly position: number;
  readonly is_default: boolean;
  readonly created_at: Micros;
  readonly open_alert_groups: number;
  readonly destinations: readonly RouteDestination[];
  readonly storm_since: Micros | null;
  readonly storm_alert_group_count: number | null;
  readonly template_error: StoredRoute['templateError'];
}

/** Call it in a snapshot, or with the order locked, so that version and Routes are of one moment. */
export async function readRouteList(tx: Transaction): Promise<RouteList> {
  const [order] = await tx<{ version: number }[]>`select version from route_order`;
  if (!order) throw new Error('the Route order has no row: the schema is incomplete');
  return { version: order.version, routes: await readRoutes(tx) };
}

/** Live Routes in evaluation order. Destinations that are deleted meanwhile are left out. */
export async function readRoutes(sql: Sql | Transaction): Promise<readonly StoredRoute[]> {
  const rows = await sql<RouteRow[]>`
    select
      r.id, r.version, r.is_default, r.name, r.description, r.matchers, r.urgent, r.group_key, r.policy,
      r.created_at,
      (row_number() over evaluation - 1)::integer as position,
      coalesce(open.count, 0) as open_alert_groups,
      storm.since as storm_since, storm.alert_group_count as storm_alert_group_count,
      (
        select jsonb_build_object('template', failed.template, 'since', failed.since, 'error', failed.error)
        from route_template_errors failed
        where failed.route_id = r.id
        order by failed.since, failed.template
        limit 1
      ) as template_error,
      (
        select coalesce(
          jsonb_agg(
            jsonb_build_object(
              'id', d.id, 'name', d.name, 'type', d.type,
              'brokenSince', d.broken_since, 'brokenReason', d.broken_reason
            )
            order by sent.place
          ),
          '[]'
        )
        from jsonb_array_elements_text(r.destination_ids) with ordinality as sent (id, place)
        join destinations d on d.id = sent.id and d.deleted_at is null
      ) as destinations
    from routes r
    -- Index: alert_groups_route.
    left join (
      select route_id, count(*)::integer as count
      from alert_groups where status <> 'resolved' group by route_id
    ) open on open.route_id = r.id
    left join route_storms storm on storm.route_id = r.id and storm.ended_at is null
    where r.deleted_at is null
    window evaluation as (order by r.is_default, r.position)
    order by r.is_default, r.position`;
  return rows.map(storedRoute);
}

function storedRoute(row: RouteRow): StoredRoute {
  const { name, description, matchers, urgent, group_key, policy, destinations } = row;
  const { storm_since: since, storm_alert_group_count: alertGroupCount } = row;
  const destination_ids = destinations.map((destination) => destination.id);
  return {
    id: row.id,
    version: row.version,
    position: row.position,
    isDefault: row.is_default,
    fields: { name, description, matchers, urgent, group_key, destination_ids, policy },
    destinations,
    createdAt: row.created_at,
    openAlertGroups: row.open_alert_groups,
    storm: since === null || alertGroupCount === null ? null : { since, alertGroupCount },
    templateError: row.template_error,
  };
}

/** The evaluation order of Routes: its locks, its version, and how a Route gets its place in it. */
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
