/** What was delivered to each Destination by the hour (delivery §7.6): counted from new records of the Request log. */
import { type DeliveryHoursReader, HOURS_SHOWN } from '../../actors/destination/ports.ts';
import { DAY, HOUR, type Micros } from '../../runtime/clock.ts';
import type { Fragment } from '../alert-groups/filters.ts';
import type { Sql } from '../postgres/records.ts';

/** Longer than what is read, so that clocks of replicas may differ. */
const KEPT_FOR: Micros = 2 * DAY;

/**
 * Adds records to the hours in which their requests began. Replicas lock the rows in one order. A request that only
 * reads from a messenger delivers nothing; a webhook may be called with any method.
 * @param written new rows of request_records
 */
export function countingStatement(sql: Sql, written: Fragment): Fragment {
  return sql`
    with written as (${written})
    insert into delivery_hours (hour, destination_id, delivered, failed)
    select
      at - at % ${HOUR}::bigint as hour, destination_id,
      count(*) filter (where error_class is null), count(*) filter (where error_class is not null)
    from written
    where direction = 'outbound' and destination_id is not null and check_kind is null
      and (connection_id is null or method <> 'GET')
    group by 1, 2
    order by 1, 2
    on conflict (hour, destination_id) do update set
      delivered = delivery_hours.delivered + excluded.delivered,
      failed = delivery_hours.failed + excluded.failed`;
}

export function createDeliveryHoursReader(sql: Sql): DeliveryHoursReader {
  return {
    async read(now) {
      const from = now - (now % HOUR) - (HOURS_SHOWN - 1) * HOUR;
      const rows = await sql<
        { hour: Micros; destination_id: string; delivered: number; failed: number }[]
      >`${deliveryHoursStatement(sql, from, now)}`;
      const counts = rows.map(({ hour, destination_id: destinationId, delivered, failed }) => ({
        ...{ destinationId, delivered, failed },
        index: (hour - from) / HOUR,
      }));
      return { from, counts };
    },
  };
}

/** Index: delivery_hours_pkey. */
export function deliveryHoursStatement(sql: Sql, from: Micros, now: Micros): Fragment {
  return sql`
    select hour, destination_id, delivered, failed from delivery_hours
    where hour >= ${from} and hour <= ${now}`;
}

/** @returns rows that went; there are two days of them, one an hour and Destination */
export async function pruneDeliveryHours(sql: Sql, now: Micros): Promise<number> {
  const { count } = await sql`delete from delivery_hours where hour < ${now - KEPT_FOR}`;
  return count;
}
