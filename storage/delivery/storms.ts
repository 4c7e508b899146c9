/** Storms of Routes and failing templates as actors record them, the Alert Groups that are held, and a Storm's figures. */
import type { StormReader } from '../../actors/destination/sending/scene.ts';
import type {
  GroupHeldRecorded,
  HoldEnded,
  RouteRecord,
  StormSaved,
  TemplateErrorsSaved,
} from '../../actors/route/effects.ts';
import { ROUTE } from '../../actors/route/messages.ts';
import type { HeldGroups } from '../../actors/route/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { jsonText, numberArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { RecordWriter, Sql, Transaction } from '../postgres/records.ts';

/** A statement a kind of record; of what a batch says about one group or Storm the last counts. */
export const stormRecords: RecordWriter = {
  types: ['storm.saved', 'storm.held', 'storm.let_go', 'storm.hold_ended'],
  async write(tx, effects, numbers) {
    const recorded = effects as readonly RouteRecord[];
    const saved = new Map<string, StormSaved>();
    const held = new Map<string, GroupHeldRecorded>();
    const letGo = new Set<string>();
    const ended: HoldEnded[] = [];
    for (const record of recorded) {
      switch (record.type) {
        case 'storm.saved':
          saved.set(record.routeId, record);
          break;
        case 'storm.held':
          held.set(record.groupId, record);
          break;
        case 'storm.let_go':
          // Its hold may be of the same batch.
          held.delete(record.groupId);
          letGo.add(record.groupId);
          break;
        case 'storm.hold_ended':
          ended.push(record);
          break;
        default:
          record satisfies never;
      }
    }
    if (saved.size > 0) await save(tx, [...saved.values()]);
    if (held.size > 0) await insertHeld(tx, [...held.values()], numbers);
    if (letGo.size > 0) await removeLetGo(tx, [...letGo]);
    if (ended.length > 0) await removeEnded(tx, ended);
  },
};

async function save(tx: Transaction, storms: readonly StormSaved[]): Promise<void> {
  const ordered = [...storms].sort((left, right) => (left.routeId < right.routeId ? -1 : 1));
  const rows = ordered.map(({ routeId, since, groupCount, urgentCount, endedAt }) => ({
    route_id: routeId,
    since,
    alert_group_count: groupCount,
    urgent_count: urgentCount,
    ended_at: endedAt,
  }));
  await tx`
    insert into route_storms (route_id, since, alert_group_count, urgent_count, ended_at)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as s (
      route_id text, since bigint, alert_group_count integer, urgent_count integer, ended_at bigint
    )
    on conflict (route_id) do update set
      since = excluded.since, alert_group_count = excluded.alert_group_count,
      urgent_count = excluded.urgent_count, ended_at = excluded.ended_at`;
}

/** #N of a group of this commit was just drawn; every other group has a row. */
async function insertHeld(
  tx: Transaction,
  held: readonly GroupHeldRecorded[],
  numbers: ReadonlyMap<string, number>,
): Promise<void> {
  await tx`
    insert into storm_alert_groups (alert_group_id, route_id, since, number)
    select held.id, held.route_id, held.since, coalesce(nullif(held.number, 0), g.number)
    from unnest(
      ${wordArray(held.map(({ groupId }) => groupId))}::text[],
      ${wordArray(held.map(({ routeId }) => routeId))}::text[],
      ${numberArray(held.map(({ since }) => since))}::bigint[],
      ${numberArray(held.map(({ groupId }) => numbers.get(groupId) ?? 0))}::bigint[]
    ) as held (id, route_id, since, number)
    left join alert_groups g on g.id = held.id
    on conflict (alert_group_id) do nothing`;
}

async function removeLetGo(tx: Transaction, groupIds: readonly string[]): Promise<void> {
  await tx`delete from storm_alert_groups where alert_group_id = any(${wordArray([...groupIds])}::text[])`;
}

/** Index: storm_alert_groups_of. */
async function removeEnded(tx: Transaction, ended: readonly HoldEnded[]): Promise<void> {
  await tx`
    delete from storm_alert_groups held
    using unnest(
      ${wordArray(ended.map(({ routeId }) => routeId))}::text[],
      ${numberArray(ended.map(({ since }) => since))}::bigint[],
      ${numberArray(ended.map(({ through }) => through))}::bigint[]
    ) as told (route_id, since, through)
    where held.route_id = told.route_id and held.since = told.since and held.number <= told.through`;
}

export function createHeldGroups(sql: Sql): HeldGroups {
  return {
    // Index: storm_alert_groups_of.
    page: ({ routeId, since, after, limit }) => sql<{ id: PublicId; number: number }[]>`
      select alert_group_id as id, number
      from storm_alert_groups
      where route_id = ${routeId} and since = ${since} and number > ${after}
      order by number
      limit ${limit}`,
  };
}

export interface ActiveStorm {
  readonly route: { readonly id: PublicId; readonly name: string };
  readonly since: Micros;
  readonly alertGroupCount: number;
}

/** Storms of live Routes, the oldest first. */
export async function readActiveStorms(sql: Sql | Transaction): Promise<readonly ActiveStorm[]> {
  const rows = await sql<{ route_id: PublicId; name: string; since: Micros; alert_group_count: number }[]>`
    select s.route_id, r.name, s.since, s.alert_group_count
    from route_storms s
    join routes r on r.id = s.route_id and r.deleted_at is null
    where s.ended_at is null
    order by s.since, s.route_id`;
  return rows.map(({ route_id: id, name, since, alert_group_count: alertGroupCount }) => ({
    route: { id, name },
    since,
    alertGroupCount,
  }));
}

export function createStormReader(sql: Sql): StormReader {
  return {
    async read(routeId, since) {
      // A later Storm takes the row; the Route's actor keeps the last ones. Indexes: route_storms_pkey, actors_pkey.
      const [storm] = await sql<
        { alert_group_count: number; urgent_count: number; ended_at: Micros | null }[]
      >`
        select alert_group_count, urgent_count, ended_at from route_storms
        where route_id = ${routeId} and since = ${since}
        union all
        select (past ->> 'groupCount')::integer, (past ->> 'urgentCount')::integer, (past ->> 'endedAt')::bigint
        from actors a, jsonb_array_elements(a.snapshot -> 'past') past
        where a.kind = ${ROUTE} and a.key = ${routeId} and (past ->> 'since')::bigint = ${since}
        limit 1`;
      if (!storm) return null;
      const { alert_group_count: newGroups, urgent_count: urgentGroups, ended_at: endedAt } = storm;
      const stillOpen = endedAt === null ? null : await countOpen(sql, routeId, since, endedAt);
      return { newGroups, urgentGroups, stillOpen };
    },
  };
}

/** Alert Groups that began in a Storm and are open. */
async function countOpen(sql: Sql, routeId: PublicId, since: Micros, endedAt: Micros): Promise<number> {
  // index: alert_groups_open
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open from alert_groups
    where original_route_id = ${routeId} and started_at between ${since} and ${endedAt} and status <> 'resolved'`;
  return row?.open ?? 0;
}

/** Rare: a statement or two each time a template begins to fail, or fails no more. */
export const routeTemplateErrors: RecordWriter = {
  types: ['route.template_errors'],
  async write(tx, effects) {
    const recorded = effects as readonly TemplateErrorsSaved[];
    const last = new Map(recorded.map((each) => [each.routeId, each.errors]));
    for (const [routeId, errors] of last) {
      const rows = Object.entries(errors).map(([template, { since, error }]) => ({ template, since, error }));
      await tx`delete from route_template_errors where route_id = ${routeId}`;
      await tx`
        insert into route_template_errors (route_id, template, since, error)
        select ${routeId}, template, since, error
        from json_to_recordset(${jsonText(rows)}::text::json) as r (template text, since bigint, error text)`;
    }
  },
};
