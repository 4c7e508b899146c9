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

    summary: (destinationId, messageId) =>
      unlessUnavailable(async () => {
        // index: deliveries_of_storms
        const rows = await sql<KeptRow[]>`
          select kept from deliveries
          where destination_id = ${destinationId} and group_id is null and kept -> 'message' ->> 'id' = ${messageId}`;
        return rows.map(({ kept }) => kept);
      }),

    waiting: ({ destinationId, after, limit }) =>
      unlessUnavailable(async () => {
        // index: deliveries_pkey
        const rows = await sql<KeptRow[]>`
          select kept from deliveries
          where destination_id = ${destinationId} and state = 'pending'
            and (subject, target) > (${after?.subject ?? ''}, ${after?.target ?? 0})
          order by subject, target
          limit ${limit}`;
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
      -- A subquery is looked up in a hash, whatever the plan; a list would be compared with each row.
      and (subject || '/' || target) not in (select unnest(${textArray([...except])}::text[]))
    order by urgent desc, number, subject, target
    limit ${limit + 1}`;
  return { deliveries: rows.slice(0, limit).map(({ kept }) => kept), more: rows.length > limit };
}

interface OpenGroupRow extends Omit<OpenGroup, 'groupId' | 'changedAt' | 'startedAt'> {
  readonly id: PublicId;
  readonly last_changed_at: Micros;
  readonly started_at: Micros;
}

/**
 * Urgent as `isUrgent` says it: by the Route, or by the severity where the Organization wants that. The Urgent and the
 * others are walked by #N each, from where the last page ended.
 */
async function readOpenGroups(
  sql: Sql,
  { routeId, after, limit }: Parameters<DeliveryReads['openGroups']>[0],
): Promise<readonly OpenGroup[]> {
  const urgentAfter = after === null ? 0 : after.urgent ? after.number : Number.MAX_SAFE_INTEGER;
  const otherAfter = after === null || after.urgent ? 0 : after.number;
  const columns = sql`id, number, status, last_changed_at, started_at`;
  const open = sql`from alert_groups where route_id = ${routeId} and status <> 'resolved'`;
  const urgent = sql`(
    (select urgent from routes where id = ${routeId})
    or severity_level = 'critical' and (select (settings ->> 'critical_is_urgent')::boolean from organization)
  )`;
  // index: alert_groups_route_numbers
  const rows = await sql<OpenGroupRow[]>`
    select page.*, exists (select 1 from storm_alert_groups where alert_group_id = page.id) as held
    from (
      select * from (
        (select ${columns}, true as urgent ${open} and ${urgent} and number > ${urgentAfter}
          order by number limit ${limit})
        union all
        (select ${columns}, false as urgent ${open} and not ${urgent} and number > ${otherAfter}
          order by number limit ${limit})
      ) of_each
      order by urgent desc, number
      limit ${limit}
    ) page
    order by urgent desc, number`;
  return rows.map(({ id, last_changed_at: changedAt, started_at: startedAt, number, ...open }) => ({
    groupId: id,
    number,
    urgent: open.urgent,
    status: open.status,
    held: open.held,
    changedAt,
    startedAt,
  }));
}

async function readStormSince(sql: Sql, routeId: PublicId): Promise<Micros | null> {
  const [storm] = await sql<{ since: Micros }[]>`
    select since from route_storms where route_id = ${routeId} and ended_at is null`;
  return storm?.since ?? null;
}
