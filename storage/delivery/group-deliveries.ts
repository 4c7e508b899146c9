/** Delivery state of an Alert Group: events that webhooks got, and messages elsewhere (delivery §11, §11.1). */
import {
  type Delivery,
  type DeliveryState,
  fromStored,
  type StoredDelivery,
} from '../../actors/destination/delivery/delivery.ts';
import type { GroupDelivery } from '../../actors/destination/delivery/ports.ts';
import { nextWork } from '../../actors/destination/delivery/work.ts';
import type { DestinationConfig } from '../../actors/directory.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sql } from '../postgres/records.ts';

interface Row {
  readonly id: PublicId;
  readonly name: string;
  readonly type: DestinationConfig['type'];
  readonly broken_since: Micros | null;
  readonly broken_reason: string | null;
  readonly updated_at: Micros;
  readonly error: string | null;
}

interface EventsRow extends Row {
  readonly pending: boolean;
  readonly sending: boolean;
  readonly newest_state: string;
}

interface MessageRow extends Row {
  readonly state: DeliveryState;
  readonly thread_not_attached: boolean;
  readonly possible_duplicate: boolean;
  readonly message_url: string | null;
  readonly kept: StoredDelivery;
}

/** One item a Destination, deleted ones included, by name; null when there is no such Alert Group. */
export async function readGroupDeliveries(
  sql: Sql,
  groupId: PublicId,
): Promise<readonly GroupDelivery[] | null> {
  const [events, messages] = await Promise.all([readEvents(sql, groupId), readMessages(sql, groupId)]);
  const items = [...events.map(ofEvents), ...messages.map(ofMessage)];
  if (items.length > 0) return byName(newestOfEach(items));
  const [found] = await sql`select 1 from alert_groups where id = ${groupId}`;
  return found ? [] : null;
}

function readEvents(sql: Sql, groupId: PublicId): Promise<readonly EventsRow[]> {
  // index: webhook_events_of_group
  return sql<EventsRow[]>`
    select
      d.id, d.name, d.type, d.broken_since, d.broken_reason,
      bool_or(e.finished_at is null) as pending,
      bool_or(e.state = 'sending') as sending,
      (array_agg(e.state order by e.sequence desc))[1] as newest_state,
      case
        when bool_or(e.finished_at is null)
        then (array_agg(e.error order by e.sequence) filter (where e.finished_at is null))[1]
        else (array_agg(e.error order by e.sequence desc))[1]
      end as error,
      max(e.updated_at) as updated_at
    from webhook_events e
    join destinations d on d.id = e.destination_id
    where e.group_id = ${groupId}
    group by d.id`;
}

/** At the present target of each; what was posted at an earlier one is only ended there. */
function readMessages(sql: Sql, groupId: PublicId): Promise<readonly MessageRow[]> {
  // index: deliveries_of_group
  return sql<MessageRow[]>`
    select distinct on (d.id)
      d.id, d.name, d.type, d.broken_since, d.broken_reason, m.state, m.thread_not_attached, m.possible_duplicate,
      m.message_url, m.error, m.updated_at, m.kept
    from deliveries m
    join destinations d on d.id = m.destination_id
    where m.group_id = ${groupId}
    order by d.id, m.target desc`;
}

function ofEvents(row: EventsRow): GroupDelivery {
  const root = eventsRoot(row);
  const ended = root === 'not_delivered' ? 'not_delivered' : 'delivered';
  const state = row.pending ? pendingAt(row) : ended;
  return {
    ...frameOf(row),
    machine: { root, thread: 'silent' },
    ...{ state, threadNotAttached: false, possibleDuplicate: false, messageUrl: null },
    ...{ postedAt: null, editedAt: null, next: null },
    error: state === 'delivered' ? null : row.error,
  };
}

/** Where the statechart stands follows from the events. */
function eventsRoot({ pending, sending, newest_state: newest }: EventsRow): Delivery['root'] {
  if (pending) return sending ? 'publishing' : 'wanted';
  return newest === 'not_delivered' ? 'not_delivered' : 'current';
}

function ofMessage(row: MessageRow): GroupDelivery {
  const delivery = fromStored(row.kept);
  const { root, thread, message } = delivery;
  const work = row.broken_since === null ? nextWork(delivery) : null;
  return {
    ...frameOf(row),
    machine: { root, thread },
    postedAt: message?.postedAt ?? null,
    editedAt: message?.editedAt ?? null,
    next: work && { kind: work.kind, at: work.dueAt },
    state: row.state === 'pending' ? pendingAt(row) : row.state,
    threadNotAttached: row.thread_not_attached,
    possibleDuplicate: row.possible_duplicate,
    messageUrl: row.message_url,
    error: row.error,
  };
}

function frameOf(row: Row): Pick<GroupDelivery, 'destination' | 'updatedAt'> {
  const { id, name, type, broken_since: brokenSince, broken_reason: brokenReason } = row;
  return { destination: { id, name, type, brokenSince, brokenReason }, updatedAt: row.updated_at };
}

function pendingAt({ broken_since: since }: Row): 'pending' | 'waiting_for_broken_destination' {
  return since === null ? 'pending' : 'waiting_for_broken_destination';
}

/** A webhook that changed its mode has both events and messages. */
function newestOfEach(items: readonly GroupDelivery[]): readonly GroupDelivery[] {
  const newest = new Map<PublicId, GroupDelivery>();
  for (const item of items) {
    const other = newest.get(item.destination.id);
    if (!other || other.updatedAt < item.updatedAt) newest.set(item.destination.id, item);
  }
  return [...newest.values()];
}

function byName(items: readonly GroupDelivery[]): readonly GroupDelivery[] {
  const key = ({ destination: { name, id } }: GroupDelivery) => `${name}\n${id}`;
  return [...items].sort((left, right) => (key(left) < key(right) ? -1 : 1));
}
