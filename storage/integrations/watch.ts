/** What the actor of an Integration looks at before a turn: the store behind `IntegrationWatch`. */
import { OLDER_END } from '../../actors/feed/rows.ts';
import type { Gap } from '../../actors/integration/machine.ts';
import {
  type FeedsSeen,
  GROUPS_AT_ONCE,
  type IntegrationWatch,
  type Leftovers,
  type SilenceQuery,
  type SilentFeed,
} from '../../actors/integration/ports.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { numberArray, textArray } from '../postgres/bulk-parameters.ts';
import type { Sql } from '../postgres/records.ts';

/** So many waiting Snapshots are looked through for those of one Integration; among more there may be some. */
const MOST_WAITING = 10_000;

/** Numbers of Snapshots follow their receipt but for those whose commit took long: ingest.write_timeout. */
const WRITE_TIMEOUT: Micros = 10 * SECOND;

export function createIntegrationWatch(sql: Sql): IntegrationWatch {
  return {
    async heartbeat(id) {
      const [row] = await sql<{ signal: Micros | null; marked: Micros | null; outages: Gap[] | null }[]>`
        select
          (select last_signal_at from integrations where id = ${id}) as signal,
          (select at from alive_mark) as marked,
          (select outages from alive_mark) as outages`;
      return {
        storedSignalAt: row?.signal ?? null,
        markedAt: row?.marked ?? null,
        outages: row?.outages ?? [],
      };
    },

    waitingSince: (id) => waitingSince(sql, id),

    silentFeeds: (id, query) => silentFeeds(sql, id, query),

    async leftovers(id): Promise<Leftovers> {
      const isPending = await hasWaiting(sql, id);
      if (isPending) return { isPending, groups: [] };
      // Index: group_alerts_firing.
      const rows = await sql<{ group_id: PublicId }[]>`
        select distinct group_id from group_alerts
        where integration_id = ${id} and state = 'firing'
        limit ${GROUPS_AT_ONCE}`;
      return { isPending, groups: rows.map(({ group_id }) => group_id) };
    },
  };
}

async function hasWaiting(sql: Sql, id: PublicId): Promise<boolean> {
  const [row] = await sql<{ waiting: number; own: boolean | null }[]>`
    select count(*)::int as waiting, bool_or(integration_id = ${id}) as own
    from (select integration_id from snapshot_queue limit ${MOST_WAITING}) as first_rows`;
  return row?.own === true || row?.waiting === MOST_WAITING;
}

/**
 * Of the oldest Snapshots that wait for whomever. Among more than are looked at may be some of the Integration, none of
 * them received before the others. One that is processed again lists nothing. Index: snapshot_queue_pkey.
 */
async function waitingSince(sql: Sql, id: PublicId): Promise<Micros | null> {
  const [row] = await sql<{ own: Micros | null; looked: number; newest: Micros | null }[]>`
    select
      min(received_at) filter (where integration_id = ${id} and not replay_of_processed) as own,
      count(*)::int as looked,
      max(received_at) as newest
    from (
      select integration_id, received_at, replay_of_processed from snapshot_queue order by seq limit ${MOST_WAITING}
    ) as first_rows`;
  const { own = null, looked = 0, newest = null } = row ?? {};
  return own ?? (looked === MOST_WAITING && newest !== null ? newest - WRITE_TIMEOUT : null);
}

interface SeenRow {
  readonly is_silent: boolean;
  readonly feed: string;
  readonly group_key: string;
  readonly route_path: string | null;
  readonly heard_at: Micros;
  readonly presences: number;
  readonly listed_at: Micros;
}

/**
 * Listed presences, those that ended with an older start, and all in a feed whose list is cut, count from the feed's last
 * Snapshot; another missed one from its last listing. Indexes: feeds_of, then presences_pkey for each feed; one statement for the feeds of an Integration, run when
 * the first of them can be silent for too long.
 */
async function silentFeeds(
  sql: Sql,
  id: PublicId,
  { cutoffs, unlearnedCutoff, among, limit }: SilenceQuery,
): Promise<FeedsSeen> {
  const rows = await sql<SeenRow[]>`
    with learned as (
      select * from unnest(
        ${textArray([...cutoffs.keys()])}::text[], ${numberArray([...cutoffs.values()])}::bigint[]
      ) as l (route_path, cutoff)
    ), seen as materialized (
      select
        f.key as feed, f.route_path, f.last_received_at as heard_at,
        coalesce(l.cutoff, ${unlearnedCutoff}) as cutoff,
        p.listed, p.missed, p.missed_before, p.first_missed, p.older_ends,
        t.feed is not null as is_truncated
      from feeds f
      left join learned l on l.route_path = f.route_path
      left join truncated_feeds t on t.integration_id = ${id} and t.feed = f.key
      cross join lateral (
        select
          count(*) filter (where state = 'listed')::int as listed,
          count(*) filter (where state = 'missed')::int as missed,
          (
            count(*) filter (where state = 'missed' and coalesce(listed_at, since) < coalesce(l.cutoff, ${unlearnedCutoff}))
          )::int as missed_before,
          min(coalesce(listed_at, since)) filter (where state = 'missed') as first_missed,
          count(*) filter (where starts_with(digest, ${OLDER_END}))::int as older_ends
        from presences where feed = f.key
      ) p
      where f.integration_id = ${id}
        and case ${among}::text
          when 'all' then t.feed is not null or p.listed + p.missed > 0
          when 'older_ends' then t.feed is null and p.older_ends > 0
          else t.feed is not null or p.older_ends > 0
        end
    ), judged as (
      select
        feed, route_path, heard_at, cutoff,
        case
          when ${among}::text <> 'all' then case when heard_at < cutoff then older_ends else 0 end
          when heard_at < cutoff then listed + missed
          when is_truncated then 0
          else missed_before
        end as presences,
        case
          when ${among}::text <> 'all' or is_truncated or first_missed is null then heard_at
          else least(heard_at, first_missed)
        end as listed_at
      from seen
    )
    (
      select true as is_silent, feed, f.group_key, longest.route_path, heard_at, presences, listed_at
      from (
        select * from judged where listed_at < cutoff order by listed_at, feed limit ${limit}
      ) longest
      join feeds f on f.key = longest.feed
      order by listed_at, feed
    )
    union all
    (
      select distinct on (route_path) false, feed, '', route_path, heard_at, presences, listed_at
      from judged
      where listed_at >= cutoff
      order by route_path, listed_at
    )`;
  return {
    silent: rows.filter(({ is_silent }) => is_silent).map(silentFeed),
    next: rows
      .filter(({ is_silent }) => !is_silent)
      .map(({ route_path, listed_at }) => ({ routePath: route_path, listedAt: listed_at })),
  };
}

function silentFeed(row: SeenRow): SilentFeed {
  return {
    feed: row.feed,
    groupKey: row.group_key,
    routePath: row.route_path,
    heardAt: row.heard_at,
    presences: row.presences,
  };
}
