/** Removes what is not kept any longer of resolved Alert Groups: details first, then all of them (Alert Group chapter §10). */
import type { Micros } from '../runtime/clock.ts';
import type { Sql } from './records.ts';

/**
 * Alerts and deliveries of up to `limit` groups that are resolved since before an instant, the oldest first. Their Timelines show Notes
 * only from then on; entries go by whole months, or where a month stays by group (retention.ts).
 * @returns how many groups; fewer than `limit`: no more are left
 */
export async function removeGroupDetails(sql: Sql, before: Micros, limit: number): Promise<number> {
  // indexes: alert_groups_detailed, deliveries_of_group, delivered_messages_of_group
  const emptied = await sql`
    with emptied as materialized (
      select id from alert_groups
      where status = 'resolved' and not details_removed and resolved_at < ${before} and firing_alert_count = 0
      order by resolved_at limit ${limit} for update skip locked
    ), alerts as (
      delete from group_alerts where group_id in (select id from emptied)
    ), deliveries as (
      delete from deliveries where group_id in (select id from emptied) and not wanted
    ), messages as (
      delete from delivered_messages where group_id in (select id from emptied)
    )
    update alert_groups set details_removed = true where id in (select id from emptied)`;
  return emptied.count;
}

/**
 * Up to `limit` groups that are resolved since before an instant, with Notes and all that leads to them. The next alert
 * of such a Route and key begins anew.
 * @returns how many groups; fewer than `limit`: no more are left
 */
export async function removeGroups(sql: Sql, before: Micros, limit: number): Promise<number> {
  // indexes: alert_groups_resolved from its old end, notes_group, slots_group, deliveries_of_group
  const removed = await sql`
    with removed as materialized (
      select id from alert_groups
      where status = 'resolved' and details_removed and resolved_at < ${before}
      order by resolved_at limit ${limit} for update skip locked
    ), notes as (
      delete from notes where group_id in (select id from removed)
    ), slots as (
      delete from slots where group_id in (select id from removed)
    ), deliveries as (
      delete from deliveries where group_id in (select id from removed)
    ), state as (
      delete from actors where kind = 'alert_group' and key in (select id from removed)
    )
    delete from alert_groups where id in (select id from removed)`;
  return removed.count;
}
