/** Which Alert Groups went where: Integration, Route, Destination (alert-groups §10.4). */
import {
  FLOW_COLUMNS,
  type Flow,
  type FlowLink,
  type FlowNode,
  type FlowReader,
  MOST_IN_FLOW,
} from '../../actors/alert-group/reading/readers.ts';
import { DAY, type Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { createTurns } from '../../runtime/share-next.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { inPlannedSnapshot } from '../postgres/transaction.ts';

/** Readings that wait for their turn. */
const MOST_WAITING = 100;

/** Reads one period at a time. */
export function createFlowReader(sql: Sql): FlowReader {
  const inTurn = createTurns('flows', MOST_WAITING);
  return {
    read: (query) =>
      inTurn(async () =>
        flowOf(await inPlannedSnapshot(sql, (tx) => tx<FlowRow[]>`${flowStatement(tx, query)}`)),
      ),
  };
}

/** A node, by `source` alone, or a link. Of `others` and what is no subject `id` is null. */
export interface FlowRow {
  readonly column: FlowNode['column'];
  readonly kind: FlowNode['kind'];
  readonly id: PublicId | null;
  readonly name: string | null;
  readonly deleted: boolean;
  readonly subjects: number;
  readonly groups: number;
  /** Of a link: the node of the column before this one's. */
  readonly source: { readonly kind: FlowNode['kind']; readonly id: PublicId | null } | null;
}

/**
 * One reading of the period's groups and, group by group, of the deliveries of each; ranks are of a few subjects. What
 * was withheld was never published, so it went nowhere.
 */
export function flowStatement(
  sql: Sql | Transaction,
  { from, to, now }: { readonly from: Micros; readonly to: Micros; readonly now: Micros },
) {
  // indexes: alert_groups_started, deliveries_of_group, webhook_events_of_group
  return sql`
    with started as materialized (
      select id, route_id, integration_ids, details_removed or started_at < ${now}::bigint - ${DAY}::bigint * (
        select (settings -> 'retention' ->> 'alert_details_days')::bigint from organization
      ) as forgotten
      from alert_groups where started_at >= ${from} and started_at < ${to}
    ),
    pairs as materialized (
      select 'route' as "column", 'subject' as source_kind, integration as source_id, 'subject' as kind, route_id as id,
        count(*) as groups
      from started cross join unnest(integration_ids) as integration
      group by integration, route_id
      union all
      select 'destination', 'subject', route_id,
        case when destination_id is not null then 'subject' when forgotten then 'forgotten' else 'none' end,
        destination_id, count(*)
      from started left join lateral (
        select m.destination_id from deliveries m where m.group_id = started.id and m.state <> 'withheld'
        union
        select e.destination_id from webhook_events e where e.group_id = started.id
      ) as went on true
      group by route_id, 4, destination_id
    ),
    counted as (
      select 'integration' as "column", 'subject' as kind, source_id as id, sum(groups) as groups
      from pairs where "column" = 'route' group by source_id
      union all
      select 'route', 'subject', route_id, count(*) from started group by route_id
      union all
      select 'destination', kind, id, sum(groups) from pairs where "column" = 'destination' group by kind, id
    ),
    named as (
      select c.*, coalesce(i.name, r.name, d.name) as name,
        coalesce(i.deleted_at, r.deleted_at, d.deleted_at) is not null as deleted
      from counted c
      left join integrations i on c."column" = 'integration' and i.id = c.id
      left join routes r on c."column" = 'route' and r.id = c.id
      left join destinations d on c."column" = 'destination' and d.id = c.id
    ),
    ranked as (
      select *, case
        when kind <> 'subject' then kind
        when row_number() over (
          partition by "column", kind order by groups desc, name collate "C", id collate "C"
        ) <= ${MOST_IN_FLOW} then 'subject'
        else 'others'
      end as shown
      from named
    ),
    nodes as (
      select "column", shown as kind, case when shown = 'subject' then id end as id, min(name) as name,
        bool_or(deleted) as deleted, count(id) as subjects, sum(groups)::bigint as groups
      from ranked group by 1, 2, 3
    ),
    links as (
      select p."column", b.shown as kind, case when b.shown = 'subject' then b.id end as id, a.shown as source_kind,
        case when a.shown = 'subject' then a.id end as source_id, sum(p.groups)::bigint as groups
      from pairs p
      join ranked a on a."column" = case p."column" when 'route' then 'integration' else 'route' end
        and a.id = p.source_id
      join ranked b on b."column" = p."column" and b.kind || coalesce(b.id, '') = p.kind || coalesce(p.id, '')
      group by 1, 2, 3, 4, 5
    )
    select "column", kind, id, name, deleted, subjects, groups, null::jsonb as source from nodes
    union all
    select "column", kind, id, null, false, 0, groups, jsonb_build_object('kind', source_kind, 'id', source_id)
    from links`;
}

const KINDS: readonly FlowNode['kind'][] = ['subject', 'others', 'none', 'forgotten'];

/** Nodes in their order, and links by the places of their nodes. */
export function flowOf(rows: readonly FlowRow[]): Flow {
  const found = rows.filter(({ source }) => source === null).sort(byPlace);
  const keyOf = (column: string, kind: string, id: string | null) => `${column} ${kind} ${id}`;
  const places = new Map(found.map(({ column, kind, id }, place) => [keyOf(column, kind, id), place]));
  const links: FlowLink[] = [];
  for (const { column, kind, id, source, groups } of rows) {
    if (source === null) continue;
    const before = column === 'route' ? 'integration' : 'route';
    const [from, to] = [
      places.get(keyOf(before, source.kind, source.id)),
      places.get(keyOf(column, kind, id)),
    ];
    if (from === undefined || to === undefined) throw new Error('a link of a flow has no node');
    links.push({ source: from, target: to, groupCount: groups });
  }
  return {
    groupCount: found.reduce((sum, { column, groups }) => sum + (column === 'route' ? groups : 0), 0),
    nodes: found.map(({ column, kind, id, name, deleted, subjects, groups }) => ({
      ...{ column, kind, subjectCount: subjects, groupCount: groups },
      // A subject whose row is gone has its id for a name.
      subject: id === null ? null : { id, name: name ?? id, deleted: deleted || name === null },
    })),
    links: links.sort((one, two) => one.source - two.source || one.target - two.target),
  };
}

function byPlace(one: FlowRow, two: FlowRow): number {
  return (
    FLOW_COLUMNS.indexOf(one.column) - FLOW_COLUMNS.indexOf(two.column) ||
    KINDS.indexOf(one.kind) - KINDS.indexOf(two.kind) ||
    two.groups - one.groups ||
    (`${one.name} ${one.id}` < `${two.name} ${two.id}` ? -1 : 1)
  );
}
