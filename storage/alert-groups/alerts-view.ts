/** The Alerts view: one Integration's Alerts across its Alert Groups (ingestion §10). */
import type { AlertsView, AlertsViewQuery, ViewedAlert } from '../../actors/alert-group/alerts-view.ts';
import type { KeyedPage } from '../../actors/alert-group/reading.ts';
import type { Labels } from '../../actors/model.ts';
import { compileMatchers } from '../../actors/route/matcher.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import { readOrganization } from '../access-ensure.ts';
import type { Sql } from '../records.ts';
import { inPlannedSnapshot } from '../transaction.ts';
import type { Fragment } from './filters.ts';
import { type AlertRow, alertOf } from './loader.ts';

/** Rows read at a time when a filter drops some of them. */
const CHUNK = 1_000;
/** Rows that are looked at for one page. */
const MOST = 5_000;

export interface ViewedRow extends AlertRow {
  readonly number: number;
  /** The value that is sorted by. */
  readonly key: Micros;
  /** The Alert fires, or was resolved later, in another group. */
  readonly superseded: boolean;
}

export function createAlertsView(sql: Sql): AlertsView {
  return {
    async list(query, now) {
      const { settings } = await readOrganization(sql);
      const kept = now - settings.retention.alert_details_days * DAY;
      return inPlannedSnapshot(sql, (tx) =>
        readPage(query, (after, limit) => {
          const asked = { ...query, after, limit };
          return tx<ViewedRow[]>`${viewStatement(sql, asked, kept)}`;
        }),
      );
    },
  };
}

type Place = AlertsViewQuery['after'];

/** Reads on until the page is full, the Alerts end, or enough were looked at. */
async function readPage(
  query: AlertsViewQuery,
  read: (after: Place, limit: number) => Promise<readonly ViewedRow[]>,
): Promise<KeyedPage<ViewedAlert>> {
  const isWanted = wantedBy(query);
  const isFiltered = query.matchers.length > 0 || query.text !== null;
  const chunk = isFiltered ? Math.max(CHUNK, query.limit + 1) : query.limit + 1;
  const items: ViewedAlert[] = [];
  let after = query.after;
  for (let looked = 0; looked < MOST; ) {
    const rows = await read(after, chunk);
    looked += rows.length;
    for (const row of rows) {
      if (items.length === query.limit) return { items, next: after };
      after = [row.key, row.fingerprint];
      if (isWanted(row)) items.push(viewedOf(row));
    }
    if (rows.length < chunk) return { items, next: null };
  }
  return { items, next: after };
}

/** The same engine of regular expressions as everywhere, hence not a condition of the statement. */
function wantedBy({ matchers, text }: AlertsViewQuery): (row: ViewedRow) => boolean {
  const matches = compileMatchers(matchers);
  const wanted = text?.toLowerCase() ?? '';
  const holds = (labels: Labels) =>
    wanted === '' || Object.values(labels).some((value) => value.toLowerCase().includes(wanted));
  return ({ superseded, labels }) => !superseded && matches(labels) && holds(labels);
}

/**
 * The next Alerts in order. Resolved ones come from the index of their sort (group_alerts_seen, group_alerts_starts).
 * Those that fire (group_alerts_firing) are all looked at: when each was seen last only its feeds know, and they say so
 * many times more often than anybody asks.
 */
export function viewStatement(sql: Sql, query: AlertsViewQuery, kept: Micros): Fragment {
  const { state } = query;
  const branches: Fragment[] = [];
  if (state !== 'resolved') branches.push(sql`(${firingStatement(sql, query)})`);
  if (state !== 'firing') branches.push(sql`(${resolvedStatement(sql, query, kept)})`);
  const both = branches.reduce((joined, branch) => sql`${joined} union all ${branch}`);
  return sql`
    select a.*, found.key, found.last_seen_at, found.superseded, g.number
    from (select * from (${both}) as either ${pageOrder(sql, query)}) as found
    join group_alerts a using (group_id, integration_id, fingerprint)
    join alert_groups g on g.id = a.group_id
    ${orderBy(sql, query)}`;
}

function firingStatement(sql: Sql, query: AlertsViewQuery): Fragment {
  const key = query.sort === 'starts_at' ? sql`starts_at` : sql`last_seen_at`;
  return sql`
    select group_id, integration_id, fingerprint, ${key} as key, last_seen_at, false as superseded
    from (
      select
        a.group_id, a.integration_id, a.fingerprint, a.starts_at,
        greatest(a.last_seen_at, (
          select max(f.last_received_at)
          from jsonb_each(a.feeds) as said (feed, presence)
          join feeds f on f.key = said.feed
          where said.presence ->> 'state' = 'listed'
        )) as last_seen_at
      from group_alerts a
      where a.integration_id = ${query.integrationId} and a.state = 'firing'
    ) as firing
    where ${behind(sql, query, key)}
    ${pageOrder(sql, query)}`;
}

/** Index of `superseded`: group_alerts_firing, group_alerts_known. */
function resolvedStatement(sql: Sql, query: AlertsViewQuery, kept: Micros): Fragment {
  const key = query.sort === 'starts_at' ? sql`starts_at` : sql`seen_until`;
  return sql`
    select
      one.group_id, one.integration_id, one.fingerprint, one.key, one.last_seen_at,
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
