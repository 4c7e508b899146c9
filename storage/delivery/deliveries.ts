/** Deliveries of message Destinations: as actors read them, as their records are written, and how old ones go. */
import { subjectText } from '../../actors/channels/calls.ts';
import {
  type Delivery,
  deliveryKey,
  fromStored,
  type StoredDelivery,
  toStored,
} from '../../actors/destination/delivery/delivery.ts';
import type { DeliveryPage, DeliveryReads, OpenGroup } from '../../actors/destination/delivery/ports.ts';
import type { DeliveryRecord, DeliverySaved, MessagePosted } from '../../actors/destination/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { jsonTexts, numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import { unlessUnavailable } from '../postgres/connection.ts';
import type { RecordWriter, Sql, Transaction } from '../postgres/records.ts';

interface KeptRow {
  readonly kept: StoredDelivery;
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
        return rows.map(({ kept }) => fromStored(kept));
      }),

    summary: (destinationId, messageId) =>
      unlessUnavailable(async () => {
        // index: deliveries_of_storms
        const rows = await sql<KeptRow[]>`
          select kept from deliveries
          where destination_id = ${destinationId} and group_id is null and kept -> 'message' ->> 'id' = ${messageId}`;
        return rows.map(({ kept }) => fromStored(kept));
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
        return rows.map(({ kept }) => fromStored(kept));
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
        return rows.map(({ kept }) => fromStored(kept));
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

/** The deliveries that a Destination loads first when it becomes active. */
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
      -- A subquery becomes a hashed lookup in every plan; a list would be compared with each row.
      and (subject || '/' || target) not in (select unnest(${textArray([...except])}::text[]))
    order by urgent desc, number, subject, target
    limit ${limit + 1}`;
  return { deliveries: rows.slice(0, limit).map(({ kept }) => fromStored(kept)), more: rows.length > limit };
}

interface OpenGroupRow extends Omit<OpenGroup, 'groupId' | 'changedAt' | 'startedAt'> {
  readonly id: PublicId;
  readonly last_changed_at: Micros;
  readonly started_at: Micros;
}

/**
 * Open groups of a Route, Urgent ones first, each part by #N, from the end of the last page. Urgent is computed as in
 * `isUrgent`: by the Route, or by the severity if the Organization sets that.
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

/** Deletes summaries of ended Storms, at most `limit`. @returns how many were deleted */
export async function pruneStormDeliveries(sql: Sql, before: Micros, limit: number): Promise<number> {
  // index: deliveries_of_storms
  const removed = await sql`
    delete from deliveries where (destination_id, subject, target) in (
      select destination_id, subject, target from deliveries
      where group_id is null and updated_at < ${before} and not is_open and not wanted
      limit ${limit}
    )`;
  return removed.count;
}

/** Messages about no Alert Group, at most `limit` of them. @returns how many went */
export async function pruneLooseMessages(sql: Sql, before: Micros, limit: number): Promise<number> {
  // index: delivered_messages_posted
  const removed = await sql`
    delete from delivered_messages where (connection_id, message_id) in (
      select connection_id, message_id from delivered_messages
      where group_id is null and posted_at < ${before}
      limit ${limit}
    )`;
  return removed.count;
}

/** Of what a batch says about one delivery the last counts. */
export const deliveryRecords: RecordWriter = {
  types: ['delivery.saved', 'delivery.message_posted'],
  async write(tx, effects, numbers) {
    const saved = new Map<string, DeliverySaved>();
    const posted = new Map<string, MessagePosted>();
    for (const record of effects as readonly DeliveryRecord[]) {
      if (record.type === 'delivery.saved') saved.set(rowKey(record), record);
      else posted.set(`${record.connectionId} ${record.messageId}`, record);
    }
    if (saved.size > 0) await save(tx, [...saved.values()], numbers);
    if (posted.size > 0) await remember(tx, [...posted.values()]);
  },
};

function rowKey({ destinationId, delivery }: DeliverySaved): string {
  return `${destinationId} ${deliveryKey(delivery)}`;
}

function groupIdOf({ subject }: Delivery): PublicId | null {
  return subject.kind === 'group' ? subject.groupId : null;
}

/** In one order, so that two commits never wait for each other in a circle. */
async function save(
  tx: Transaction,
  records: readonly DeliverySaved[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  const rows = [...records].sort((left, right) => (rowKey(left) < rowKey(right) ? -1 : 1));
  const words = (of: (record: DeliverySaved) => string) => wordArray(rows.map(of));
  const texts = (of: (record: DeliverySaved) => string | null) => textArray(rows.map(of));
  const numbersOf = (of: (record: DeliverySaved) => number | null) => numberArray(rows.map(of));
  // index: deliveries_pkey
  await tx`
    insert into deliveries as known (
      destination_id, subject, target, group_id, route_id, number, urgent, is_open, state, possible_duplicate,
      thread_not_attached, message_url, error, updated_at, wanted, signed_with, kept
    )
    select * from unnest(
      ${words(({ destinationId }) => destinationId)}::text[],
      ${texts(({ delivery }) => subjectText(delivery.subject))}::text[],
      ${numbersOf(({ delivery }) => delivery.target)}::integer[],
      ${texts(({ delivery }) => groupIdOf(delivery))}::text[],
      ${words(({ delivery }) => delivery.routeId)}::text[],
      ${numbersOf(({ delivery }) => delivery.number ?? numbers.get(groupIdOf(delivery) ?? '') ?? null)}::bigint[],
      ${words(({ delivery }) => `${delivery.urgent}`)}::boolean[],
      ${words(({ isOpen }) => `${isOpen}`)}::boolean[],
      ${words(({ state }) => state)}::text[],
      ${words(({ delivery }) => `${delivery.possibleDuplicate}`)}::boolean[],
      ${words(({ delivery }) => `${delivery.threadNotAttached}`)}::boolean[],
      ${texts(({ delivery }) => delivery.message?.url ?? null)}::text[],
      ${texts(({ error }) => error)}::text[],
      ${numbersOf(({ at }) => at)}::bigint[],
      ${words(({ wanted }) => `${wanted}`)}::boolean[],
      ${texts(({ delivery }) => delivery.message?.signedWith ?? null)}::text[],
      string_to_array(${jsonTexts(rows.map(({ delivery }) => toStored(delivery)))}, chr(1))::jsonb[]
    )
    on conflict (destination_id, subject, target) do update set
      route_id = excluded.route_id,
      number = coalesce(excluded.number, known.number),
      urgent = excluded.urgent,
      is_open = excluded.is_open,
      state = excluded.state,
      possible_duplicate = excluded.possible_duplicate,
      thread_not_attached = excluded.thread_not_attached,
      message_url = excluded.message_url,
      error = excluded.error,
      updated_at = excluded.updated_at,
      wanted = excluded.wanted,
      signed_with = excluded.signed_with,
      kept = excluded.kept`;
}

/** A Root message takes the place of the one before it, which stays known: people still press its buttons. */
async function remember(tx: Transaction, posted: readonly MessagePosted[]): Promise<void> {
  const anew = posted.filter(({ replaces }) => replaces);
  if (anew.length > 0) {
    // index: delivered_messages_of_group
    await tx`
      update delivered_messages set is_present = false
      from unnest(
        ${wordArray(anew.map(({ destinationId }) => destinationId))}::text[],
        ${wordArray(anew.map(({ groupId }) => groupId ?? ''))}::text[]
      ) as anew (destination_id, group_id)
      where delivered_messages.group_id = anew.group_id
        and delivered_messages.destination_id = anew.destination_id
        and delivered_messages.kind = 'root' and delivered_messages.is_present`;
  }
  await tx`
    insert into delivered_messages (
      connection_id, message_id, destination_id, kind, group_id, is_present, posted_at
    )
    select connection_id, message_id, destination_id, kind, group_id, kind <> 'reply', posted_at
    from unnest(
      ${wordArray(posted.map(({ connectionId }) => connectionId))}::text[],
      ${textArray(posted.map(({ messageId }) => messageId))}::text[],
      ${wordArray(posted.map(({ destinationId }) => destinationId))}::text[],
      ${wordArray(posted.map(({ kind }) => kind))}::text[],
      ${textArray(posted.map(({ groupId }) => groupId))}::text[],
      ${numberArray(posted.map(({ at }) => at))}::bigint[]
    ) as p (connection_id, message_id, destination_id, kind, group_id, posted_at)
    on conflict (connection_id, message_id) do update set
      destination_id = excluded.destination_id, kind = excluded.kind, group_id = excluded.group_id,
      is_present = excluded.is_present, posted_at = excluded.posted_at`;
}
