/** What Internal alerts are decided by: the entities they are about, and how each condition stands. */
import type { Condition, LiveEntity } from '../actors/internal-alerts/conditions.ts';
import type { InternalAlertName } from '../actors/internal-alerts/effects.ts';
import type { EntityKind } from '../actors/internal-alerts/registry.ts';
import type { Labels } from '../actors/model.ts';
import type { Micros } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { numberArray, textArray, wordArray } from './array-literals.ts';
import { jsonTexts } from './json-text.ts';
import type { Transaction } from './records.ts';

/**
 * Those that exist, as they are until the transaction ends: whoever renames or deletes one waits for it, or is waited
 * for. In one order of kinds and ids.
 */
export async function lockEntities(
  tx: Transaction,
  ids: ReadonlyMap<EntityKind, readonly PublicId[]>,
): Promise<ReadonlyMap<string, LiveEntity>> {
  const found: LiveEntity[] = [];
  for (const [kind, table] of TABLES) {
    const wanted = ids.get(kind);
    if (!wanted) continue;
    const staticLabels = kind === 'integration' ? tx`static_labels` : tx`'{}'::jsonb`;
    found.push(
      ...(await tx<LiveEntity[]>`
        select id, name, ${staticLabels} as "staticLabels"
        from ${tx(table)}
        where id = any(${wordArray(wanted)}::text[]) and deleted_at is null
        order by id for share`),
    );
  }
  return new Map(found.map((entity) => [entity.id, entity]));
}

const TABLES = [
  ['integration', 'integrations'],
  ['route', 'routes'],
  ['destination', 'destinations'],
] as const satisfies readonly (readonly [EntityKind, string])[];

interface ConditionRow {
  readonly fingerprint: string;
  readonly name: InternalAlertName;
  readonly entity_id: PublicId | null;
  readonly raised: boolean;
  readonly extras: Labels;
  readonly labels: Labels;
  readonly date: string;
  readonly since: Micros;
  readonly told_at: Micros;
}

/** Locked; one that is not there yet is made, so that nobody else makes it meanwhile. */
export async function lockConditions(
  tx: Transaction,
  wanted: readonly Pick<Condition, 'fingerprint' | 'name' | 'entityId'>[],
): Promise<Map<string, Condition>> {
  await tx`
    insert into internal_alerts (fingerprint, name, entity_id, raised, extras, labels, date, since, told_at)
    select fingerprint, name, entity_id, false, '{}', '{}', '', 0, 0
    from unnest(
      ${wordArray(wanted.map(({ fingerprint }) => fingerprint))}::text[],
      ${wordArray(wanted.map(({ name }) => name))}::text[],
      ${textArray(wanted.map(({ entityId }) => entityId))}::text[]
    ) as w (fingerprint, name, entity_id)
    order by fingerprint
    on conflict (fingerprint) do nothing`;
  const rows = await tx<ConditionRow[]>`
    select * from internal_alerts
    where fingerprint = any(${wordArray(wanted.map(({ fingerprint }) => fingerprint))}::text[])
    order by fingerprint for update`;
  return byFingerprint(rows);
}

/** All about one entity, locked. Index: internal_alerts_of. */
export async function lockConditionsOf(tx: Transaction, entityId: PublicId): Promise<Map<string, Condition>> {
  const rows = await tx<ConditionRow[]>`
    select * from internal_alerts where entity_id = ${entityId} order by fingerprint for update`;
  return byFingerprint(rows);
}

function byFingerprint(rows: readonly ConditionRow[]): Map<string, Condition> {
  return new Map(
    rows.map(({ entity_id: entityId, told_at: toldAt, ...row }) => [
      row.fingerprint,
      { ...row, entityId, toldAt },
    ]),
  );
}

export async function saveConditions(tx: Transaction, conditions: readonly Condition[]): Promise<void> {
  if (conditions.length === 0) return;
  await tx`
    update internal_alerts a
    set raised = c.raised, extras = c.extras::jsonb, labels = c.labels::jsonb, date = c.date, since = c.since,
      told_at = c.told_at
    from rows from (
      unnest(${wordArray(conditions.map(({ fingerprint }) => fingerprint))}::text[]),
      unnest(${wordArray(conditions.map(({ raised }) => String(raised)))}::boolean[]),
      unnest(string_to_array(${jsonTexts(conditions.map(({ extras }) => extras))}, chr(1))),
      unnest(string_to_array(${jsonTexts(conditions.map(({ labels }) => labels))}, chr(1))),
      unnest(${textArray(conditions.map(({ date }) => date))}::text[]),
      unnest(${numberArray(conditions.map(({ since }) => since))}::bigint[]),
      unnest(${numberArray(conditions.map(({ toldAt }) => toldAt))}::bigint[])
    ) as c (fingerprint, raised, extras, labels, date, since, told_at)
    where a.fingerprint = c.fingerprint`;
}

/** Nothing is raised about a deleted entity any more. Index: internal_alerts_of. */
export async function forgetConditionsOf(tx: Transaction, entityId: PublicId): Promise<void> {
  await tx`delete from internal_alerts where entity_id = ${entityId}`;
}
