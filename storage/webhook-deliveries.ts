/** Delivery state of an Alert Group at the webhooks that got its events (delivery §11). */
import type { WebhookDelivery } from '../actors/destination/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Sql } from './records.ts';

interface DeliveryRow {
  readonly id: PublicId;
  readonly name: string;
  readonly broken_since: Micros | null;
  readonly broken_reason: string | null;
  readonly pending: boolean;
  readonly pending_error: string | null;
  readonly newest_state: string;
  readonly newest_error: string | null;
  readonly updated_at: Micros;
}

/** One item a Destination, deleted ones included, by name; null when there is no such Alert Group. */
export async function readWebhookDeliveries(
  sql: Sql,
  groupId: PublicId,
): Promise<readonly WebhookDelivery[] | null> {
  // index: webhook_events_of_group
  const rows = await sql<DeliveryRow[]>`
    select
      d.id, d.name, d.broken_since, d.broken_reason,
      bool_or(e.finished_at is null) as pending,
      (array_agg(e.error order by e.sequence) filter (where e.finished_at is null))[1] as pending_error,
      (array_agg(e.state order by e.sequence desc))[1] as newest_state,
      (array_agg(e.error order by e.sequence desc))[1] as newest_error,
      max(e.updated_at) as updated_at
    from webhook_events e
    join destinations d on d.id = e.destination_id
    where e.group_id = ${groupId}
    group by d.id
    order by d.name, d.id`;
  if (rows.length > 0) return rows.map(delivery);
  const [found] = await sql`select 1 from alert_groups where id = ${groupId}`;
  return found ? [] : null;
}

function delivery(row: DeliveryRow): WebhookDelivery {
  const state = stateOf(row);
  const error = row.pending ? row.pending_error : row.newest_error;
  return {
    destination: {
      id: row.id,
      name: row.name,
      type: 'webhook',
      brokenSince: row.broken_since,
      brokenReason: row.broken_reason,
    },
    state,
    error: state === 'delivered' ? null : error,
    updatedAt: row.updated_at,
  };
}

function stateOf(row: DeliveryRow): WebhookDelivery['state'] {
  if (row.pending) return row.broken_since === null ? 'pending' : 'waiting_for_broken_destination';
  return row.newest_state === 'not_delivered' ? 'not_delivered' : 'delivered';
}
