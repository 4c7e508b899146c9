/** The sender's routes as far as an Integration knows them (ingestion §10). */
import type { AlertmanagerRoute } from '../actors/integration/ports.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { Sql } from './records.ts';

/** Route paths that nothing is learned of are as many as a sender makes; so many of them are listed. */
const MOST_UNLEARNED = 1_000;

/**
 * By route path; null when there is no such Integration, or none any more. Indexes: learned_routes_pkey,
 * truncated_feeds_pkey, feeds_of.
 */
export async function readAlertmanagerRoutes(
  sql: Sql,
  id: PublicId,
): Promise<readonly AlertmanagerRoute[] | null> {
  const [integration] = await sql<{ builtin: boolean }[]>`
    select builtin from integrations where id = ${id} and deleted_at is null`;
  if (!integration) return null;
  if (integration.builtin) return [];
  const rows = await sql<{ route_path: string; repeat_interval: Micros | null; truncated: number }[]>`
    with known as (
      select route_path from learned_routes where integration_id = ${id}
      union
      select route_path from truncated_feeds where integration_id = ${id} and route_path is not null
    ), listed as (
      select route_path from known
      union
      (
        select distinct route_path from feeds
        where integration_id = ${id} and route_path is not null
        order by route_path limit ${MOST_UNLEARNED}
      )
    )
    select
      listed.route_path, l.repeat_interval,
      (
        select count(*)::int from truncated_feeds t
        where t.integration_id = ${id} and t.route_path = listed.route_path
      ) as truncated
    from listed
    left join learned_routes l on l.integration_id = ${id} and l.route_path = listed.route_path
    order by listed.route_path collate "C"`;
  return rows.map((row) => ({
    routePath: row.route_path,
    interval: row.repeat_interval,
    truncatedGroups: row.truncated,
  }));
}
