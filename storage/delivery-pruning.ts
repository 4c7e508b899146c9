/** Removes what is not kept any longer of deliveries that no Alert Group takes along (group-retention.ts). */
import type { Micros } from '../runtime/clock.ts';
import type { Sql } from './records.ts';

/** Summaries of Storms that are over, at most `limit` of them. @returns how many went */
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
