/** What else fires around an Alert Group, and what its Route and Group key had before. */
import {
  CLUSTER_LABEL,
  type ContextReader,
  comparedLabels,
  NEARBY_COMPARED,
  NEARBY_SHOWN,
  NEARBY_SPAN,
  type NearbyGroups,
  PAST_COUNTED,
  PAST_NOTES,
  PAST_PEOPLE,
  PAST_READ,
  PAST_SPAN,
  type PastGroups,
} from '../../actors/alert-group/reading/context.ts';
import type { StoredGroup } from '../../actors/alert-group/reading/readers.ts';
import type { NoteEntry } from '../../actors/alert-group/reading/timeline.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { jsonText } from '../postgres/bulk-parameters.ts';
import type { Sql } from '../postgres/records.ts';
import type { Fragment } from './filters.ts';
import { groupColumns, groupOf, type StoredGroupRow } from './group-rows.ts';

export function createContextReader(sql: Sql): ContextReader {
  return {
    nearby: (group, now) => readNearby(sql, group, now),
    past: (group) => readPast(sql, group),
  };
}

/** Without any that shares a label, one row that says only whether more than those compared are open. */
type NearbyRow =
  | (StoredGroupRow & { readonly sharing: number })
  | { readonly id: null; readonly sharing: null };

async function readNearby(sql: Sql, group: StoredGroup, now: Micros): Promise<NearbyGroups> {
  if (Object.keys(comparedLabels(group.commonLabels)).length === 0)
    return { groups: [], count: 0, truncated: false };
  const rows = await sql<
    (NearbyRow & { readonly truncated: boolean })[]
  >`${nearbyStatement(sql, group, now)}`;
  const [first] = rows;
  return {
    groups: rows.flatMap((row) => (row.id === null ? [] : [groupOf(row)])),
    count: first?.sharing ?? 0,
    truncated: first?.truncated ?? false,
  };
}

/**
 * The nearest starts before and after this one and the newest of all, each a bounded walk through alert_groups_open.
 * Their labels are compared row by row: in a Storm all of them may hold the same label, so that no index of labels
 * would bound the work.
 */
export function nearbyStatement(sql: Sql, group: StoredGroup, now: Micros): Fragment {
  const { startedAt } = group;
  const compared = comparedLabels(group.commonLabels);
  const cluster = compared[CLUSTER_LABEL];
  const started = (from: Micros, to: Micros, order: Fragment) => sql`
    select * from (
      select id, number, started_at, common_labels, row_number() over () as place
      from (
        select id, number, started_at, common_labels from alert_groups
        where status <> 'resolved' and started_at between ${from}::bigint and ${to}::bigint
        order by ${order} limit ${NEARBY_COMPARED + 1}
      ) as walked
    ) as numbered`;
  const newest = sql`started_at desc, number desc`;
  const sameCluster =
    cluster === undefined
      ? sql`true`
      : sql`coalesce(nullif(common_labels ->> ${CLUSTER_LABEL}, ''), ${cluster}) = ${cluster}`;
  return sql`
    with walked as materialized (
      (${started(startedAt - NEARBY_SPAN, startedAt, newest)})
      union all (${started(startedAt, startedAt + NEARBY_SPAN, sql`started_at, number`)})
      union all (${started(now - NEARBY_SPAN, now, newest)})
    ),
    compared as (
      select distinct on (number) id, number, started_at, own.shared
      from walked
      cross join lateral (
        select count(*) as shared, count(*) filter (where label.name <> ${CLUSTER_LABEL}) as places
        from json_each_text(${jsonText(compared)}::text::json) as label (name, value)
        where walked.common_labels ->> label.name = label.value
      ) as own
      where id <> ${group.id} and place <= ${NEARBY_COMPARED} and own.places > 0 and ${sameCluster}
    ),
    chosen as (
      select id, shared, count(*) over () as sharing from compared
      order by shared desc, started_at desc, number desc
      limit ${NEARBY_SHOWN}
    )
    select ${groupColumns(sql)}, chosen.sharing, walk.truncated
    from (select exists (select from walked where place > ${NEARBY_COMPARED}) as truncated) as walk
    left join chosen on true
    left join alert_groups g on g.id = chosen.id
    order by chosen.shared desc, g.started_at desc, g.number desc`;
}

interface PastRow {
  readonly count: number;
  readonly truncated: boolean;
  readonly median: number | null;
  readonly people: readonly { readonly userId: PublicId; readonly count: number }[];
  readonly notes: readonly {
    readonly note: NoteEntry;
    readonly id: PublicId;
    readonly number: number;
  }[];
}

async function readPast(sql: Sql, group: StoredGroup): Promise<PastGroups> {
  const [row] = await sql<PastRow[]>`${pastStatement(sql, group)}`;
  if (!row) throw new Error('an aggregate without a row');
  return {
    from: group.startedAt - PAST_SPAN,
    count: row.count,
    truncated: row.truncated,
    medianDuration: row.median === null ? null : Math.round(row.median),
    people: row.people,
    notes: row.notes.map(({ note, id, number }) => ({ note, group: { id, number } })),
  };
}

/**
 * Indexes: alert_groups_slot for the groups, timeline_entries_group for who acknowledged one at the instant that its
 * row names, notes_group.
 */
export function pastStatement(sql: Sql, group: StoredGroup): Fragment {
  return sql`
    with newest as materialized (
      select id, number, started_at, resolved_at, first_acknowledged_at,
        row_number() over (order by number desc) as place
      from (
        select id, number, started_at, resolved_at, first_acknowledged_at from alert_groups
        where original_route_id = ${group.originalRouteId} and key_hash = ${group.keyHash}
          and number < ${group.number}::bigint
        order by number desc limit ${PAST_COUNTED + 1}
      ) as walked
    ),
    counted as (
      select * from newest
      where started_at >= ${group.startedAt - PAST_SPAN}::bigint and place <= ${PAST_COUNTED}
    ),
    takers as (
      select e.entry -> 'actor' ->> 'id' as "userId", count(*) as count, max(n.number) as last
      from newest n
      cross join lateral (
        select entry from timeline_entries
        where group_id = n.id and at = n.first_acknowledged_at and kind = 'status'
          and entry ->> 'event' = 'acknowledged' and entry -> 'actor' ->> 'kind' = 'user'
        limit 1
      ) e
      where n.place <= ${PAST_READ}
      group by 1
      order by last desc
      limit ${PAST_PEOPLE}
    ),
    written as (
      select n.id, n.number, w.entry as note, w.at, w.place
      from newest n
      cross join lateral (
        select entry, at, place, id from notes where group_id = n.id
        order by at desc, place desc, id desc limit ${PAST_NOTES}
      ) w
      where n.place <= ${PAST_READ}
      order by w.at desc, w.place desc, w.id desc
      limit ${PAST_NOTES}
    )
    select
      (select count(*) from counted) as count,
      (select count(*) from counted) = ${PAST_COUNTED} and (select count(*) from newest) > ${PAST_COUNTED} as truncated,
      (select percentile_cont(0.5) within group (order by resolved_at - started_at) from counted) as median,
      (
        select coalesce(json_agg(json_build_object('userId', "userId", 'count', count) order by last desc), '[]')
        from takers
      ) as people,
      (select coalesce(json_agg(written order by at desc, place desc), '[]') from written) as notes`;
}
