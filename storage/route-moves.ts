/** What moving the open Alert Groups of a Route reads and writes (routes §8). */
import { auditEntry } from '../actors/audit.ts';
import type { RouteMoves } from '../actors/route/ports.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import type { Sql } from './records.ts';
import { inTransaction } from './transaction.ts';

export function createRouteMoves(sql: Sql, appendAudit: AppendAudit): RouteMoves {
  return {
    async newestNumber() {
      // Index: alert_groups_number.
      const [row] = await sql<{ number: number | null }[]>`select max(number) as number from alert_groups`;
      return row?.number ?? 0;
    },

    async openGroups(routeId, upTo, limit) {
      // Index: alert_groups_route. Without an order, so that each page reads no more than itself.
      const rows = await sql<{ id: PublicId }[]>`
        select id from alert_groups
        where route_id = ${routeId} and status <> 'resolved' and number <= ${upTo}
        limit ${limit}`;
      return rows.map(({ id }) => id);
    },

    recordMove: ({ id, name }, count, author) =>
      inTransaction(sql, async (tx) => {
        const action = 'route.open_alert_groups_moved';
        const details = { moved: count };
        await appendAudit(tx, auditEntry(author, { action, resourceId: id, resourceName: name, details }));
      }),
  };
}
