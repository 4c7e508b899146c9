/**
 * Open Alert Groups, and those resolved not long ago, in the memory of this process. Counts, labels, texts and expressions
 * are asked of many groups at a time, which takes a database 30 to 150 ms with 100,000 open ones, and this 1 to 5 ms.
 *
 * The database stays the only truth. Before each answer the groups are read that transactions have touched since the
 * last time (`changed_alert_groups`, written by the server itself), so an answer knows everything that was committed when it
 * was asked for. Whatever goes wrong here, or while nothing is in memory yet, SQL answers.
 */
import type postgres from 'postgres';
import {
  type Clock,
  DAY,
  MINUTE,
  type Micros,
  type Monotonic,
  SECOND,
  systemMonotonic,
} from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Sql, Transaction } from '../../postgres/records.ts';
import { inSnapshot } from '../../postgres/transaction.ts';
import { Columns, type RecentRow } from './columns.ts';

/** Resolved groups are held from so long before the reading on: a day more than lists show if not told otherwise. */
const RESOLVED_FOR: Micros = 8 * DAY;
/** After which they are read anew, so that those that ended long ago go. */
const ANEW_AFTER: Micros = DAY;
/** Groups, and characters of their labels and texts, that are held at most. */
const MOST_GROUPS = 250_000;
const MOST_CHARACTERS = 64 * 2 ** 20;
/** Changed groups that are read for one answer; with more it is quicker to read all anew. */
const MOST_CHANGED = 20_000;
/** Words and pairs that may come before all is read anew, besides as many as there were. */
const MOST_NEW_ENTRIES = 200_000;
/** Changes are kept for some minutes more than this (`createChangePruning`). */
const CHANGES_KNOWN: Micros = 5 * MINUTE;
/** From one reading of all groups to the next; after one that failed, and one that found too many. */
const BETWEEN_READINGS: Micros = MINUTE;
const AFTER_FAILURE: Micros = 10 * SECOND;
const AFTER_TOO_MANY: Micros = 10 * MINUTE;
/** Rows in memory at a time while all are read. */
const READ_AT_ONCE = 1_000;

/** What is in memory. */
export interface Known {
  /** They change while something is awaited. */
  readonly columns: Columns;
  /** Of resolved groups all are there that ended at this instant or later; infinite: none are. */
  readonly resolvedSince: Micros;
}

export interface RecentGroupsDeps {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Log;
  /** See {@link MOST_GROUPS}. */
  readonly most?: number;
  /** See {@link MOST_CHARACTERS}. */
  readonly mostCharacters?: number;
}

interface Reading extends Known {
  /** Of the server: transactions that were over by then are all in it. */
  snapshot: string;
  readAt: Instant;
  readonly begunAt: Micros;
  /** Of the server; another one may have lost what this one had. */
  readonly serverStart: string;
  readonly firstSize: number;
  readonly firstEntries: number;
}

/** One moment as two clocks have it, µs. */
interface Instant {
  readonly monotonic: Micros;
  readonly wall: Micros;
}

export class RecentGroups {
  readonly #deps: RecentGroupsDeps;
  #reading: Reading | null = null;
  #loading: Promise<void> | null = null;
  #notBefore: Micros = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();
  /** A look at the changes that has not begun. */
  #next: Promise<Known | null> | null = null;

  constructor(deps: RecentGroupsDeps) {
    this.#deps = deps;
  }

  /**
   * The groups with everything that was committed before this was called; null while they are not in memory, or when what
   * changed could not be read. Never rejects.
   */
  current(): Promise<Known | null> {
    if (this.#reading === null) {
      void this.load();
      return Promise.resolve(null);
    }
    if (this.#next === null) {
      const next = this.#last.then(() => {
        this.#next = null;
        return this.#follow().catch((error: unknown) => {
          // SQL answers; the next look begins where this one did.
          this.#logFailure(error);
          return null;
        });
      });
      this.#next = next;
      this.#last = next;
    }
    return this.#next;
  }

  /**
   * Whether resolved groups that ended since may be among those in memory, as far as is known; null: all that ever did.
   * Asking for them neither reads nor follows anything: who asks for nothing else needs no memory.
   */
  reachesBack(since: Micros | null): boolean {
    return since !== null && (this.#reading === null || this.#reading.resolvedSince <= since);
  }

  /** Begins to read all groups unless that is under way, or was in vain a moment ago. Never rejects. */
  load(): Promise<void> {
    if (this.#loading !== null) return this.#loading;
    if (this.#deps.monotonic() < this.#notBefore) return Promise.resolve();
    this.#loading = this.#readAll().then(
      () => {
        this.#loading = null;
      },
      (error: unknown) => {
        this.#loading = null;
        this.#restFor(AFTER_FAILURE);
        this.#logFailure(error);
      },
    );
    return this.#loading;
  }

  #logFailure(error: unknown): void {
    this.#deps.log('store_read_failed', { what: 'recent alert groups', error: String(error) });
  }

  #restFor(pause: Micros): void {
    this.#notBefore = this.#deps.monotonic() + pause;
  }

  async #readAll(): Promise<void> {
    const { sql } = this.#deps;
    const readAt = this.#instant();
    const resolvedSince = readAt.wall - RESOLVED_FOR;
    const reading = await inSnapshot(sql, async (tx) => {
      const { snapshot, server_start: serverStart } = await moment(tx);
      // Index: alert_groups_open_changed, or any other of open groups.
      const allOpen = () => tx<RecentRow[]>`
        select ${recentColumns(tx)} from alert_groups g where g.status <> 'resolved'`;
      const columns = new Columns();
      if (!(await this.#fill(columns, allOpen()))) return null;
      // Index: alert_groups_resolved.
      const resolved = tx<RecentRow[]>`
        select ${recentColumns(tx)} from alert_groups g
        where g.status = 'resolved' and g.resolved_at >= ${resolvedSince}::bigint`;
      const common = { snapshot, serverStart, readAt, begunAt: readAt.wall };
      if (await this.#fill(columns, resolved))
        return { ...common, ...sizesOf(columns), columns, resolvedSince };
      // Columns never forget a word: those of resolved groups alone may be too many.
      const open = new Columns();
      await this.#fill(open, allOpen());
      return { ...common, ...sizesOf(open), columns: open, resolvedSince: Number.POSITIVE_INFINITY };
    });
    this.#restFor(reading === null ? AFTER_TOO_MANY : BETWEEN_READINGS);
    this.#reading = reading;
    const held = reading === null ? 'none' : Number.isFinite(reading.resolvedSince) ? 'all' : 'open';
    this.#deps.log('recent_groups_read', { groups: reading?.columns.size ?? 0, held });
  }

  /** False when they are too many. */
  async #fill(columns: Columns, statement: postgres.PendingQuery<RecentRow[]>): Promise<boolean> {
    for await (const rows of statement.cursor(READ_AT_ONCE)) {
      for (const row of rows) columns.put(row);
      if (this.#isTooMuch(columns)) return false;
    }
    return true;
  }

  #isTooMuch({ size, characters }: Columns): boolean {
    const { most = MOST_GROUPS, mostCharacters = MOST_CHARACTERS } = this.#deps;
    return size > most || characters > mostCharacters;
  }

  #instant(): Instant {
    return { monotonic: this.#deps.monotonic(), wall: this.#deps.clock.now() };
  }

  /** By either clock: one stands still while the machine is suspended, the other may be set back. */
  #isTooOld({ readAt }: Reading): boolean {
    const now = this.#instant();
    return Math.max(now.monotonic - readAt.monotonic, now.wall - readAt.wall) > CHANGES_KNOWN;
  }

  async #follow(): Promise<Known | null> {
    const { sql } = this.#deps;
    const reading = this.#reading;
    if (reading === null) return null;
    if (this.#isTooOld(reading)) return this.#readAnew();
    const readAt = this.#instant();
    const now = await inSnapshot(sql, async (tx) => {
      const then = await moment(tx);
      if (then.server_start !== reading.serverStart) return null;
      return (await this.#apply(reading, tx<(RecentRow | Gone)[]>`${changedGroups(tx, reading.snapshot)}`))
        ? then
        : null;
    });
    // The process may have stood still before the changes were read, and they may have been pruned meanwhile.
    if (now === null || this.#isTooOld(reading)) return this.#readAnew();
    const { columns } = reading;
    reading.snapshot = now.snapshot;
    reading.readAt = readAt;
    const isOld = readAt.wall - reading.begunAt > ANEW_AFTER;
    if (isOld || isGrown(reading) || this.#isTooMuch(columns)) return this.#readAnew();
    return reading;
  }

  /** False when they are too many. What was applied before a failure is true, too, and read once more. */
  async #apply(
    { columns, resolvedSince }: Known,
    statement: postgres.PendingQuery<(RecentRow | Gone)[]>,
  ): Promise<boolean> {
    let count = 0;
    for await (const rows of statement.cursor(READ_AT_ONCE)) {
      count += rows.length;
      if (count > MOST_CHANGED || this.#isTooMuch(columns)) return false;
      for (const row of rows) {
        const isHeld = row.status !== null && (row.resolved_at ?? Number.POSITIVE_INFINITY) >= resolvedSince;
        if (isHeld && row.status !== null) columns.put(row);
        else columns.remove(row.number);
      }
    }
    return true;
  }

  #readAnew(): null {
    this.#reading = null;
    void this.load();
    return null;
  }
}

function sizesOf({ size, entries }: Columns): { readonly firstSize: number; readonly firstEntries: number } {
  return { firstSize: size, firstEntries: entries };
}

/** Words of groups that are gone stay, and so do groups that ended long ago. */
function isGrown({ columns, firstSize, firstEntries }: Reading): boolean {
  return columns.size > 2 * firstSize + MOST_CHANGED || columns.entries > 2 * firstEntries + MOST_NEW_ENTRIES;
}

/** A group that is no longer there. */
type Gone = { readonly number: number; readonly status: null; readonly resolved_at: null };

/**
 * The groups that transactions have touched which were not over by a snapshot. The first condition is what the index knows:
 * none of them is older than the snapshot's oldest. While one transaction goes on for long, that leaves in all that were
 * read before, and the second one out.
 * Indexes: changed_alert_groups_xid, alert_groups_number.
 */
export function changedGroups(sql: Sql | Transaction, snapshot: string) {
  return sql`
    select ${recentColumns(sql)}, c.number
    from (
      select distinct number from changed_alert_groups
      where xid >= pg_snapshot_xmin(${snapshot}::text::pg_snapshot)
        and not pg_visible_in_snapshot(xid, ${snapshot}::text::pg_snapshot)
      limit ${MOST_CHANGED + 1}
    ) c
    left join alert_groups g on g.number = c.number`;
}

export function recentColumns(sql: Sql | Transaction) {
  return sql`
    g.number, g.status, g.route_id, g.owner_id, g.severity_level, g.integration_ids, g.started_at, g.last_changed_at,
    g.resolved_at, g.resolved_by, g.resolve_reason, g.reopen_count > 0 as is_reopened,
    g.status = 'snoozed' and g.snooze_until is null as is_snoozed_without_end, g.unclaimed, g.delivery_problem,
    g.common_labels, lower(g.title) as small_title, lower(g.summary) as small_summary`;
}

async function moment(
  tx: Transaction,
): Promise<{ readonly snapshot: string; readonly server_start: string }> {
  const [row] = await tx<{ snapshot: string; server_start: string }[]>`
    select pg_current_snapshot()::text as snapshot, pg_postmaster_start_time()::text as server_start`;
  if (!row) throw new Error('the server did not tell its snapshot');
  return row;
}

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
