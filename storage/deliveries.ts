/** Deliveries of message Destinations as their actors read them. */
import type { Delivery } from '../actors/destination/messages/delivery.ts';
import type { DeliveryPage, DeliveryReads, OpenGroup } from '../actors/destination/messages/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { textArray } from './array-literals.ts';
import { unlessUnavailable } from './connection.ts';
import type { Sql } from './records.ts';

interface KeptRow {
  readonly kept: Delivery;
}

export function createDeliveryReads(sql: Sql): DeliveryReads {
  return {
    page: (destinationId, except, limit) =>
      unlessUnavailable(() => readWanted(sql, destinationId, except, limit)),

    read: (destinationId, subjects) =>
      unlessUnavailable(async () => {
        // index: deliveries_pkey
        const rows = await sql<KeptRow[]>`
          select kept from deliveries
          where destination_id = ${destinationId} and subject = any(${textArray([...subjects])}::text[])
          order by subject, target`;
        return rows.map(({ kept }) => kept);
      }),

    open: ({ destinationId, routeId, after, limit }) =>
      unlessUnavailable(async () => {
        // index: deliveries_of_route with a Route, deliveries_pkey without one
        const rows = await sql<KeptRow[]>`
          select kept from deliveries
          where destination_id = ${destinationId} and is_open
            and (${routeId}::text is null or route_id = ${routeId})
            and (subject, target) > (${after?.subject ?? ''}, ${after?.target ?? 0})
          order by subject, target
          limit ${limit}`;
        return rows.map(({ kept }) => kept);
      }),

    openGroups: (query) =>
      unlessUnavailable(async () => {
        const [groups, stormSince] = await Promise.all([
          readOpenGroups(sql, query),
          readStormSince(sql, query.routeId),
        ]);
        return { groups, stormSince };
      }),
  };
}

/** What a Destination that becomes active loads first. */
export async function readWanted(
  sql: Sql,
  destinationId: PublicId,
  except: readonly string[],
  limit: number,
): Promise<DeliveryPage> {
  // index: deliveries_wanted
  const rows = await sql<KeptRow[]>`
    select kept from deliveries
    where destination_id = ${destinationId} and wanted
      and (subject || '/' || target) <> all(${textArray([...except])}::text[])
    order by urgent desc, number, subject, target
    limit ${limit + 1}`;
  return { deliveries: rows.slice(0, limit).map(({ kept }) => kept), more: rows.length > limit };
}

interface OpenGroupRow extends Omit<OpenGroup, 'groupId' | 'changedAt'> {
  readonly id: PublicId;
  readonly last_changed_at: Micros;
}

/** Urgent as `isUrgent` says it: by the Route, or by the severity where the Organization wants that. */
async function readOpenGroups(
  sql: Sql,
  { routeId, after, limit }: Parameters<DeliveryReads['openGroups']>[0],
): Promise<readonly OpenGroup[]> {
  // index: alert_groups_route
  const rows = await sql<OpenGroupRow[]>`
    select id, number, urgent, status, last_changed_at, held
    from (
      select
        g.id, g.number, g.status, g.last_changed_at,
        r.urgent or (g.severity_level = 'critical' and (o.settings ->> 'critical_is_urgent')::boolean) as urgent,
        exists (select 1 from storm_alert_groups s where s.alert_group_id = g.id) as held
      from alert_groups g
      join routes r on r.id = g.route_id
      cross join organization o
      where g.route_id = ${routeId} and g.status <> 'resolved'
    ) open
    where ${after === null} or (not urgent, number) > (${after?.urgent === false}, ${after?.number ?? 0})
    order by not urgent, number
    limit ${limit}`;
  return rows.map(({ id, last_changed_at: changedAt, number, urgent, status, held }) => ({
    groupId: id,
    ...{ number, urgent, status, held, changedAt },
  }));
}

async function readStormSince(sql: Sql, routeId: PublicId): Promise<Micros | null> {
  const [storm] = await sql<{ since: Micros }[]>`
    select since from route_storms where route_id = ${routeId} and ended_at is null`;
  return storm?.since ?? null;
}
