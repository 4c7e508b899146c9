/** Waiting webhook events as Destinations load them, their bodies, and what became of them. */
import { NO_TRIES } from '../../actors/destination/delivery/delivery.ts';
import { PAGE_DELIVERIES } from '../../actors/destination/delivery/rows.ts';
import { DESTINATION } from '../../actors/destination/messages.ts';
import type { WaitingEvents } from '../../actors/destination/prepare.ts';
import {
  type DestinationRows,
  destinationRows,
  MOST_OF_GROUP,
  PAGE_EVENTS,
  type StoredDestinationRows,
  type WaitingEvent,
  type WaitingPage,
} from '../../actors/destination/rows.ts';
import type { LifecycleEventName } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { unlessUnavailable } from '../postgres/connection.ts';
import type { RowLoader, Sql } from '../postgres/records.ts';
import { readWanted } from './deliveries.ts';

/** Groups whose last event here may have ended badly, newest first; more are not remembered. */
const MOST_TROUBLED = 10_000;

interface WaitingRow {
  readonly id: string;
  readonly group_id: PublicId;
  readonly sequence: number;
  readonly event: LifecycleEventName;
  readonly urgent: boolean;
  readonly occurred_at: Micros;
  readonly state: 'waiting' | 'sending';
  readonly calls: number;
  readonly attempts: number;
  readonly first_failed_at: Micros | null;
  readonly next_attempt_at: Micros | null;
  readonly exact: boolean;
  readonly error: string | null;
  readonly more: boolean;
}

/** Loads the waiting events of Destinations that become active. */
export const destinationRowLoader: RowLoader = {
  kind: DESTINATION,
  async load(sql, keys) {
    const loaded = new Map<string, DestinationRows>();
    for (const key of keys) loaded.set(key, destinationRows(await readRows(sql, key as PublicId)));
    return loaded;
  },
};

export function createWaitingEvents(sql: Sql): WaitingEvents {
  return {
    async page(destinationId, except, limit) {
      const rows = await unlessUnavailable(() => readWaiting(sql, destinationId, except, limit));
      return pageOf(rows, limit).page;
    },
  };
}

/** Destinations that have something to send: each is told to resume at start. */
export async function destinationsWithWork(sql: Sql): Promise<readonly PublicId[]> {
  // indexes: webhook_events_waiting, deliveries_wanted
  const rows = await sql<{ id: PublicId }[]>`
    select d.id from destinations d
    where exists (select 1 from webhook_events e where e.destination_id = d.id and e.finished_at is null)
      or exists (select 1 from deliveries m where m.destination_id = d.id and m.wanted)`;
  return rows.map((row) => row.id);
}

/** The body of an event that still waits; null when it ended. */
export async function readWebhookBody(sql: Sql, eventId: string): Promise<string | null> {
  const [row] = await sql<{ body: string }[]>`
    select body from webhook_events where id = ${eventId} and finished_at is null`;
  return row?.body ?? null;
}

/** Removes finished events recorded before `before`, at most `limit` of them. @returns how many went */
export async function pruneWebhookEvents(sql: Sql, before: Micros, limit: number): Promise<number> {
  // index: webhook_events_recorded
  const removed = await sql`
    delete from webhook_events where id in (
      select id from webhook_events where occurred_at < ${before} and finished_at < ${before} limit ${limit}
    )`;
  return removed.count;
}

async function readRows(sql: Sql, destinationId: PublicId): Promise<StoredDestinationRows> {
  const { rows, page } = pageOf(await readWaiting(sql, destinationId, [], PAGE_EVENTS), PAGE_EVENTS);
  // index: webhook_events_troubled
  const troubled = await sql<{ group_id: PublicId }[]>`
    select distinct group_id from (
      select group_id from webhook_events
      where destination_id = ${destinationId} and state = 'not_delivered'
      order by finished_at desc limit ${MOST_TROUBLED}
    ) latest`;
  const sending = rows.filter((row) => row.state === 'sending');
  return {
    ...page,
    troubled: troubled.map((row) => row.group_id),
    sending: sending.map((row) => ({ id: row.id, lostAt: row.next_attempt_at ?? 0 })),
    deliveries: await readWanted(sql, destinationId, [], PAGE_DELIVERIES),
  };
}

/**
 * The groups of the first `limit` waiting events in the order of the index, each with its first events in order: one more
 * than a Destination loads of a group, to know whether there are more. It stops early when that is many, and reads no
 * more of the index than what is left out and the limit, however much waits.
 */
function readWaiting(
  sql: Sql,
  destinationId: PublicId,
  except: readonly PublicId[],
  limit: number,
): Promise<readonly WaitingRow[]> {
  // index: webhook_events_waiting, then webhook_events_of_group
  return sql<WaitingRow[]>`
    with first as materialized (
      select group_id, row_number() over (order by urgent desc, occurred_at, group_id) as place
      from (
        select group_id, urgent, occurred_at from webhook_events
        where destination_id = ${destinationId} and finished_at is null
          and group_id <> all(${[...except]}::text[])
        order by urgent desc, occurred_at, group_id
        limit ${limit + 1}
      ) scanned
    ),
    groups as materialized (
      select group_id, min(place) as place from first where place <= ${limit} group by group_id order by 2
    )
    select
      e.id, e.group_id, e.sequence, e.event, e.urgent, e.occurred_at, e.state, e.calls, e.attempts,
      e.first_failed_at, e.next_attempt_at, e.exact, e.error,
      (select count(*) > ${limit} from first) as more
    from groups g
    cross join lateral (
      select * from webhook_events
      where group_id = g.group_id and destination_id = ${destinationId} and finished_at is null
      order by sequence
      limit ${MOST_OF_GROUP + 1}
    ) e
    order by g.place, e.sequence
    limit ${mostRows(limit)}`;
}

/** Rows of one page. A page as long as this may hold its last group in part. */
function mostRows(limit: number): number {
  return limit + MOST_OF_GROUP + 2;
}

/** What an actor takes of the rows: whole groups or their first events. */
function pageOf(rows: readonly WaitingRow[], limit: number): { rows: WaitingRow[]; page: WaitingPage } {
  const lines = new Map<PublicId, WaitingRow[]>();
  for (const row of rows) {
    const line = lines.get(row.group_id);
    if (line) line.push(row);
    else lines.set(row.group_id, [row]);
  }
  const isFull = rows.length === mostRows(limit);
  const last = rows.at(-1);
  if (isFull && last) lines.delete(last.group_id);
  const cut = [...lines].filter(([, line]) => line.length > MOST_OF_GROUP).map(([groupId]) => groupId);
  const given = [...lines.values()].flatMap((line) => line.slice(0, MOST_OF_GROUP));
  const more = isFull || (last?.more ?? false);
  return { rows: given, page: { events: given.map(waitingEvent), more, cut } };
}

function waitingEvent(row: WaitingRow): WaitingEvent {
  return {
    id: row.id,
    groupId: row.group_id,
    sequence: row.sequence,
    event: row.event,
    urgent: row.urgent,
    occurredAt: row.occurred_at,
    calls: row.calls,
    tries: {
      ...NO_TRIES,
      attempts: row.attempts,
      firstFailedAt: row.first_failed_at,
      notBefore: row.state === 'waiting' ? (row.next_attempt_at ?? 0) : 0,
      exact: row.exact,
      error: row.error,
    },
  };
}
