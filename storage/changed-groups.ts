import type { Sql } from './records.ts';

/** Marks kept: of this many prunings, which are a minute apart. */
const KEPT = 10;

/**
 * Removes what transactions noted of changed Alert Groups some minutes ago: after `KEPT` calls those that were over by the first
 * of them. Whoever follows the changes reads everything anew when it has not looked for half as long (recent-groups.ts).
 */
export function createChangePruning(sql: Sql): () => Promise<number> {
  const marks: string[] = [];
  return async () => {
    const [row] = await sql<{ xmin: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`;
    if (row) marks.push(row.xmin);
    if (marks.length <= KEPT) return 0;
    // Index: changed_alert_groups_xid.
    const removed =
      await sql`delete from changed_alert_groups where xid < ${marks.shift() ?? '0'}::text::xid8`;
    return removed.count;
  };
}
