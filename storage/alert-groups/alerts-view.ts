/** The Alerts view: one Integration's Alerts across its Alert Groups (ingestion §10). */
import type {
  AlertsView,
  AlertsViewQuery,
  KeyedPage,
  ViewedAlert,
} from '../../actors/alert-group/reading/readers.ts';
import type { Labels } from '../../actors/model.ts';
import { compileMatchers } from '../../actors/route/matcher.ts';
import { DAY, type Micros, type Monotonic, SECOND, systemMonotonic } from '../../runtime/clock.ts';
import { Pace } from '../../runtime/pace.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createTurns } from '../../runtime/share-next.ts';
import { readOrganization } from '../configuration/organization.ts';
import { textArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot } from '../postgres/transaction.ts';
import type { Fragment } from './filters.ts';
import { type AlertRow, alertOf } from './loader.ts';
import { charactersOf, PAGE_CHARACTERS } from './pages.ts';

/** Rows read at a time when a filter drops some of them. */
const CHUNK = 500;
/** Rows that are looked at for one page, and for how long; a page then ends short. */
const MOST = 5_000;
const MOST_WORK: Micros = SECOND / 2;
/** Filtered readings that wait for their turn. */
const MOST_WAITING = 32;

/** An Alert of a page, or one that may be. */
interface FoundRow {
  readonly group_id: PublicId;
  readonly fingerprint: string;
  /** The value that is sorted by. */
  readonly key: Micros;
  readonly last_seen_at: Micros;
  /** The Alert fires, or was resolved later, in another group. */
  readonly superseded: boolean;
}

interface ViewedRow extends AlertRow {
  readonly number: number;
}

/** @param monotonic tells how long a filter takes */
export function createAlertsView(sql: Sql, monotonic: Monotonic = systemMonotonic): AlertsView {
  const turns = createTurns('readings of Alerts', MOST_WAITING);
  return {
    list(query, now) {
      const read = async () => {
        const { settings } = await readOrganization(sql);
        const kept = now - settings.retention.alert_details_days * DAY;
        return inPlannedSnapshot(sql, (tx) => readPage(sql, tx, query, kept, new Pace(monotonic)));
      };
      return isFiltered(query) ? turns(read) : read();
    },
  };
}

function isFiltered({ matchers, text }: AlertsViewQuery): boolean {
  return matchers.length > 0 || text !== null;
}

/**
 * Reads on until the page is full, the Alerts end, or enough were looked at. What a filter may drop is found in one go,
 * as few bytes a row; what it judges and the page shows is read in chunks.
 */
async function readPage(
  sql: Sql,
  tx: Transaction,
  query: AlertsViewQuery,
  kept: Micros,
  pace: Pace,
): Promise<KeyedPage<ViewedAlert>> {
  const isWanted = wantedBy(query, pace);
  const most = isFiltered(query) ? MOST : query.limit + 1;
  const items: ViewedAlert[] = [];
  let characters = 0;
  let { after } = query;
  for (let looked = 0; looked < MOST; ) {
    const found = await tx<FoundRow[]>`${foundStatement(sql, { ...query, after, limit: most }, kept)}`;
    looked += found.length;
    for (let from = 0; from < found.length; from += CHUNK) {
      const chunk = found.slice(from, from + CHUNK);
      const rows = await rowsOf(tx, query.integrationId, chunk);
      pace.resume();
      for (const [index, row] of rows.entries()) {
        const isFull = items.length === query.limit || characters > PAGE_CHARACTERS;
        if (isFull || pace.worked > MOST_WORK) return { items, next: after };
        const { key, last_seen_at, superseded } = chunk[index] as FoundRow;
        after = [key, row.fingerprint];
        if (!superseded && (await isWanted(row.labels))) {
          items.push(viewedOf({ ...row, last_seen_at }));
          characters += charactersOf(row);
        }
        if (pace.isDue()) await pace.rest();
      }
      pace.pause();
    }
    if (found.length < most) return { items, next: null };
  }
  return { items, next: after };
}

/** One for each that was found, in the same order. Index: group_alerts_pkey. */
async function rowsOf(
  tx: Transaction,
  integrationId: PublicId,
  found: readonly FoundRow[],
): Promise<readonly ViewedRow[]> {
  const rows = await tx<ViewedRow[]>`
    select a.*, g.number
    from rows from (
      unnest(${wordArray(found.map(({ group_id }) => group_id))}::text[]),
      unnest(${textArray(found.map(({ fingerprint }) => fingerprint))}::text[])
    ) with ordinality as wanted (group_id, fingerprint, place)
    join group_alerts a
      on a.group_id = wanted.group_id and a.integration_id = ${integrationId} and a.fingerprint = wanted.fingerprint
    join alert_groups g on g.id = a.group_id
    order by wanted.place`;
  if (rows.length !== found.length) throw new Error('an Alert that was found was not there');
  return rows;
}

/** The same engine of regular expressions as everywhere, hence not a condition of the statement. */
function wantedBy({ matchers, text }: AlertsViewQuery, pace: Pace): (labels: Labels) => Promise<boolean> {
  const tests = matchers.map((one) => compileMatchers([one]));
  const wanted = text?.toLowerCase() ?? '';
  const holds = (labels: Labels) =>
    wanted === '' || Object.values(labels).some((value) => value.toLowerCase().includes(wanted));
  return async (labels) => {
    for (const test of tests) {
      if (!test(labels)) return false;
      if (pace.isDue()) await pace.rest();
    }
    return holds(labels);
  };
}

/**
 * The next Alerts in order. Resolved ones come from the index of their sort (group_alerts_seen, group_alerts_starts).
 * Those that fire (group_alerts_firing) are all looked at: when each was seen last only its feeds know, and they say so
 * many times more often than anybody asks.
 */
function foundStatement(sql: Sql, query: AlertsViewQuery, kept: Micros): Fragment {
  const { state } = query;
  const branches: Fragment[] = [];
  if (state !== 'resolved') branches.push(sql`(${firingStatement(sql, query)})`);
  if (state !== 'firing') branches.push(sql`(${resolvedStatement(sql, query, kept)})`);
  const both = branches.reduce((joined, branch) => sql`${joined} union all ${branch}`);
  return sql`select * from (${both}) as either ${pageOrder(sql, query)}`;
}

function firingStatement(sql: Sql, query: AlertsViewQuery): Fragment {
  const key = query.sort === 'starts_at' ? sql`starts_at` : sql`last_seen_at`;
  return sql`
    select group_id, fingerprint, ${key} as key, last_seen_at, false as superseded
    from (
      select
        a.group_id, a.fingerprint, a.starts_at, greatest(a.last_seen_at, max(f.last_received_at)) as last_seen_at
      from group_alerts a
      left join lateral (
        select said.feed from jsonb_each(a.feeds) as said (feed, presence) where said.presence ->> 'state' = 'listed'
      ) as listed on true
      left join feeds f on f.key = listed.feed
      where a.integration_id = ${query.integrationId} and a.state = 'firing'
      group by a.group_id, a.integration_id, a.fingerprint
    ) as firing
    where ${behind(sql, query, key)}
    ${pageOrder(sql, query)}`;
}

/** Index of `superseded`: group_alerts_firing, group_alerts_known. */
function resolvedStatement(sql: Sql, query: AlertsViewQuery, kept: Micros): Fragment {
  const key = query.sort === 'starts_at' ? sql`starts_at` : sql`seen_until`;
  return sql`
    select
      one.group_id, one.fingerprint, one.key, one.last_seen_at,
      exists (
        select from group_alerts n
        where n.integration_id = one.integration_id and n.fingerprint = one.fingerprint and n.state = 'firing'
      ) or exists (
        select from group_alerts n
        where n.integration_id = one.integration_id and n.fingerprint = one.fingerprint
          and (n.resolved_at, n.group_id) > (one.resolved_at, one.group_id)
      ) as superseded
    from (
      select group_id, integration_id, fingerprint, ${key} as key, last_seen_at, resolved_at
      from group_alerts
      where integration_id = ${query.integrationId} and state = 'resolved' and resolved_at >= ${kept}
        and ${behind(sql, query, key)}
      ${pageOrder(sql, query)}
    ) as one`;
}

function behind(sql: Sql, { after, descending }: AlertsViewQuery, key: Fragment): Fragment {
  if (!after) return sql`true`;
  const place = sql`(${after[0]}::bigint, ${after[1]})`;
  return descending
    ? sql`(${key}, fingerprint collate "C") < ${place}`
    : sql`(${key}, fingerprint collate "C") > ${place}`;
}

function pageOrder(sql: Sql, query: AlertsViewQuery): Fragment {
  return sql`${orderBy(sql, query)} limit ${query.limit}`;
}

function orderBy(sql: Sql, { descending }: AlertsViewQuery): Fragment {
  return descending
    ? sql`order by key desc, fingerprint collate "C" desc`
    : sql`order by key, fingerprint collate "C"`;
}

function viewedOf(row: ViewedRow): ViewedAlert {
  return { alert: alertOf(row), group: { id: row.group_id, number: row.number } };
}
