/** How much each statement may read, and which ones must have been seen. */

/** Rows that scans give or pass over. */
const MOST_ROWS = 6_000;
/** Pages of 8 KiB. */
const MOST_BUFFERS = 8_000;

interface Bound {
  readonly statement: RegExp;
  /** Why it reads more than others. */
  readonly why: string;
  /** Rows at most. */
  readonly rows: (amounts: Amounts) => number;
  /** In plans only that the server keeps from when the tables were small: until the next ANALYZE. */
  readonly whileKept?: true;
}

interface Amounts {
  readonly all: number;
  readonly open: number;
}

const open = ({ open: groups }: Amounts) => 3 * groups + MOST_ROWS;
const all = ({ all: groups }: Amounts) => 2 * groups + MOST_ROWS;

const BOUNDS: readonly Bound[] = [
  { statement: /^select g\.number, g\.status, g\.route_id/, why: 'recent groups, into memory', rows: open },
  {
    statement: /^select g\.status, count\(\*\)/,
    why: 'counts while recent groups are not in memory',
    rows: open,
  },
  {
    statement: /^select g\.\*.* g\.(unclaimed|delivery_problem) = /,
    why: 'lists of what few groups have, while recent groups are not in memory',
    rows: open,
  },
  {
    statement: /^with owned as materialized/,
    why: 'open groups of each Integration, for its page',
    rows: open,
  },
  {
    statement: /^select r\.id, r\.version, r\.is_default/,
    why: 'open groups of each Route, for the list',
    rows: open,
  },
  {
    statement: /^select route_id as route, status, count/,
    why: 'open groups of each Route, for metrics',
    rows: open,
  },
  {
    statement: /^with looked as materialized \( select g\.common_labels/,
    why: 'folds of open groups',
    rows: open,
  },
  {
    statement: /^with looked as materialized \( with open as/,
    why: 'actors in a state of an open group: all of these are looked at',
    rows: open,
  },
  {
    statement: /^with looked as materialized \( select key from actors/,
    why: 'actors in a state: 20,000 are looked at for a page',
    rows: () => 40_000,
  },
  {
    statement: /^select \* from \(\( select (one\.)?group_id/,
    why: 'Alerts of an Integration: a few thousand are sorted, more are read in order',
    rows: () => 15_000,
  },
  {
    statement: /^with started as materialized/,
    why: 'where groups of a period came from',
    rows: () => 10_000,
  },
  {
    statement: /^select g\.\*.* g\.resolved_at >= \$2::bigint\) .* (ilike|@>)/,
    why: 'text and labels in a range that holds few resolved groups, while recent ones are not in memory',
    rows: all,
  },
  {
    statement: /^select g\.number from alert_groups g .* ilike/,
    why: 'text in an index of parts of words, which gives all that hold these',
    rows: ({ all: groups }) => groups / 50 + MOST_ROWS,
  },
  {
    statement: /^with label as .* latest as/,
    why: 'severities of the Alerts of the last days, for the page of the Organization',
    rows: all,
  },
  { statement: /^with counted as \( select kind/, why: 'every actor is counted anew by the hour', rows: all },
  {
    statement: /^with owners as \( select distinct owner_id from request_records/,
    why: 'the bounds of the Request log are looked for by the hour',
    rows: all,
  },
  {
    statement: /^with emptied as materialized/,
    why: 'a batch of groups and what belongs to them, and pages of every index that they are written to',
    rows: () => MOST_ROWS,
  },
  { statement: /^delete from webhook_events/, why: 'a block range index, read by the hour', rows: all },
  { statement: /from notes where id =/, why: 'one Note', rows: all, whileKept: true },
  { statement: /from notes where group_id =/, why: 'Notes of a group', rows: all, whileKept: true },
  {
    statement: /union all select n\.at, n\.place/,
    why: 'a page of the Timeline',
    rows: all,
    whileKept: true,
  },
  {
    statement: /^with seen as \( select connection_id/,
    why: 'copies of posts in channels',
    rows: all,
    whileKept: true,
  },
  { statement: /^with known as/, why: 'routes of an Alertmanager', rows: all, whileKept: true },
  { statement: /^with page as materialized/, why: 'a page of the Request log', rows: all, whileKept: true },
];

/** What a statement may read at most. */
export function boundOf(
  statement: string,
  isKept: boolean,
  groups: number,
): { rows: number; buffers: number } {
  const found = BOUNDS.find((bound) => (isKept || !bound.whileKept) && bound.statement.test(statement));
  if (found === undefined) return { rows: MOST_ROWS, buffers: MOST_BUFFERS };
  const rows = found.rows({ all: groups, open: groups / 10 });
  // A row on a page of its own, and the pages of the index on the way to it.
  return { rows, buffers: 4 * rows };
}

export interface Hot {
  readonly what: string;
  readonly statement: RegExp;
}

/** Of a service that runs. */
export const HOT: readonly Hot[] = [
  { what: 'actors by address', statement: /from actors where kind = wanted\.kind/ },
  { what: 'homes and Slots', statement: /insert into slots \(route_id, key_hash, group_id\)/ },
  { what: 'targets of Slots', statement: /from slots where route_id = asked\.route_id/ },
  { what: 'Alerts of groups', statement: /from group_alerts where group_id = wanted\.id/ },
  { what: 'actors, written again', statement: /^update actors a set version = a\.version \+ 1/ },
  { what: 'new actors', statement: /^insert into actors/ },
  { what: 'groups, written', statement: /^insert into alert_groups/ },
  { what: 'Alerts, written', statement: /insert into group_alerts/ },
  { what: 'feeds, heard again', statement: /^update feeds f set last_received_at/ },
  { what: 'presences', statement: /insert into presences/ },
  { what: 'entries of Timelines', statement: /insert into timeline_entries/ },
  { what: 'settled Snapshots', statement: /insert into stored_snapshots/ },
  { what: 'the queue of Snapshots', statement: /^delete from snapshot_queue where seq = any/ },
  { what: 'stored Snapshots', statement: /insert into snapshot_queue/ },
  { what: 'due wake-ups', statement: /^select kind, key, wake_at from actors where wake_at <=/ },
  { what: 'the next wake-up', statement: /^select wake_at from actors where wake_at is not null/ },
  { what: 'the inbox', statement: /from inbox where shard = any/ },
  { what: 'deliveries, written', statement: /insert into deliveries/ },
  { what: 'webhook events, written', statement: /insert into webhook_events/ },
  { what: 'changed groups, for memory', statement: /from changed_alert_groups/ },
  { what: 'the Request log', statement: /insert into request_records/ },
  { what: 'the Audit log', statement: /insert into audit_log/ },
  {
    what: 'lists of groups',
    statement: /from alert_groups g where g\.status <> 'resolved' .* order by g\.started_at desc/,
  },
  { what: 'details that go', statement: /^with emptied as materialized/ },
  { what: 'groups that go', statement: /^with removed as materialized/ },
  { what: 'a page of the Audit log', statement: /from audit_log/ },
  { what: 'a page of Stored Snapshots', statement: /from stored_snapshots/ },
];

/** Of queues in which very much waits. */
export const HOT_QUEUES: readonly Hot[] = [
  { what: 'the inbox', statement: /^select seq, receiver_kind, .* from inbox/ },
  { what: 'due wake-ups', statement: /^select kind, key, wake_at from actors where wake_at <=/ },
  { what: 'the next wake-up', statement: /^select wake_at from actors where wake_at is not null/ },
  { what: 'Snapshots of all shards', statement: /from snapshot_queue where seq > \$1 order by seq/ },
  { what: 'Snapshots of a shard', statement: /from snapshot_queue where shard = range\.shard/ },
  { what: 'attempts', statement: /^update snapshot_queue set attempts = attempts \+ 1/ },
  { what: 'the newest message', statement: /from inbox .* order by seq desc limit 1/ },
];
