import { MINUTE, type Micros, type Monotonic, systemMonotonic } from '../runtime/clock.ts';
import type { Sql } from './records.ts';

/** How long changes are known at least. However often pruning is called: whoever takes the lead begins with it. */
const KEPT: Micros = 10 * MINUTE;

interface Mark {
  /** Transactions before this one were over. */
  readonly xmin: string;
  /** Or earlier; in monotonic time, µs. */
  readonly at: Micros;
}

/**
 * Removes what transactions noted of changed Alert Groups that were over ten minutes ago, as far as this process has seen
 * it. Whoever follows the changes reads everything anew when it has not looked for half as long (recent-groups.ts). So goes
 * what no transaction of this server can have noted: it came with a dump of another one, and would pass for new.
 */
export function createChangePruning(sql: Sql, monotonic: Monotonic = systemMonotonic): () => Promise<number> {
  const marks: Mark[] = [];
  return async () => {
    const now = monotonic();
    let over = '0';
    while (marks[0] && now - marks[0].at >= KEPT) over = marks.shift()?.xmin ?? over;
    const [row] = await sql<{ xmin: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`;
    if (row) marks.push({ xmin: row.xmin, at: monotonic() });
    // Index: changed_alert_groups_xid.
    const removed = await sql`
      delete from changed_alert_groups
      where xid < ${over}::text::xid8 or xid >= pg_snapshot_xmax(pg_current_snapshot())`;
    return removed.count;
  };
}
