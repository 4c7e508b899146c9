/** Storms of Routes as their actors record them, and the Alert Groups that are held. */
import type { GroupHeldRecorded, HoldEnded, RouteRecord, StormSaved } from '../actors/route/effects.ts';
import type { HeldGroups } from '../actors/route/held-groups.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { numberArray, wordArray } from './array-literals.ts';
import type { RecordWriter, Sql, Transaction } from './records.ts';

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
