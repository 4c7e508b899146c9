/**
 * Stores Internal alerts as Snapshots of the built-in Integration, in the transaction that changes their condition
 * (internal-alerts §2.1). The intake brings them to their feeds like every other.
 */
import { hash } from 'node:crypto';
import type { Directory } from '../../actors/directory.ts';
import { feedKey, groupKeyHash } from '../../actors/feed/identity.ts';
import { feedAddress } from '../../actors/feed/messages.ts';
import type { NewSnapshot } from '../../actors/feed/ports.ts';
import {
  afterChange,
  afterEdit,
  afterEnd,
  type Condition,
  internalAlertBody,
  internalFingerprint,
  internalGroupKey,
  type LiveEntity,
  type Runbooks,
  type Telling,
} from '../../actors/internal-alerts/conditions.ts';
import {
  type EntityKind,
  entityKindOf,
  INTERNAL_ALERT_NAMES,
  type InternalAlertChange,
  type InternalAlertName,
  type InternalAlertRecorded,
} from '../../actors/internal-alerts/registry.ts';
import type { Labels } from '../../actors/model.ts';
import { type ActorStore, shardOf } from '../../runtime/actor/index.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { jsonTexts, numberArray, textArray, wordArray } from '../postgres/bulk-parameters.ts';
import { compareKeys } from '../postgres/locks.ts';
import type { RecordWriter, Transaction } from '../postgres/records.ts';
import { storeSnapshots } from '../snapshots/writer.ts';

export interface InternalAlerts {
  /** Writes what turns recorded. */
  readonly writer: RecordWriter;
  /** For a change of configuration that begins or ends conditions. */
  record(tx: Transaction, changes: readonly InternalAlertChange[]): Promise<void>;
  /** For a save that renamed an entity or changed its Static labels; the entity's row is written and still locked. */
  entityChanged(tx: Transaction, entity: LiveEntity, at: Micros): Promise<void>;
  /** For the deletion of an entity, whose row is written and still locked. */
  entityDeleted(tx: Transaction, entityId: PublicId, at: Micros): Promise<void>;
  /** Ends as a save did, once the intake knows that the save may have stored Snapshots. */
  announced<Result>(saving: Promise<Result>): Promise<Result>;
}

export interface InternalAlertsDeps {
  /** The built-in Integration. */
  readonly integrationId: PublicId;
  readonly runbooks: Runbooks;
  /** Makes the intake look for Snapshots that were committed for these shards. */
  readonly stored: (shards: readonly number[]) => void;
}

export function createInternalAlerts(deps: InternalAlertsDeps): InternalAlerts {
  const { integrationId, runbooks } = deps;
  const shards = INTERNAL_ALERT_NAMES.map((name) => shardFor(integrationId, name));

  return {
    writer: {
      types: ['internal_alert.recorded'],
      write: (tx, effects) => record(tx, effects as readonly InternalAlertRecorded[]),
    },
    record,
    async entityChanged(tx, entity, at) {
      const conditions = await lockConditionsOf(tx, entity.id);
      await tell(
        tx,
        [...conditions.values()].map((condition) => afterEdit(condition, entity, at)),
      );
    },
    async entityDeleted(tx, entityId, at) {
      const conditions = await lockConditionsOf(tx, entityId);
      await tell(
        tx,
        [...conditions.values()].map((condition) => afterEnd(condition, at)),
      );
      if (conditions.size > 0) await forgetConditionsOf(tx, entityId);
    },
    async announced(saving) {
      try {
        return await saving;
      } finally {
        // Also when its outcome is unknown.
        deps.stored(shards);
      }
    },
  };

  /** Nothing is told about an entity that is gone: its deletion has resolved what was raised. */
  async function record(tx: Transaction, changes: readonly InternalAlertChange[]): Promise<void> {
    const entities = await lockEntities(tx, entityIds(changes));
    const live = changes.filter(({ entity }) => entity === null || entities.has(entity.id));
    if (live.length === 0) return;
    const conditions = await lockConditions(tx, live.map(neverBegun));
    const tellings: Telling[] = [];
    for (const change of live) {
      const { fingerprint } = neverBegun(change);
      const condition = conditions.get(fingerprint);
      if (!condition) throw new Error(`the condition ${fingerprint} was locked and is not there`);
      const telling = afterChange(condition, change, entities.get(change.entity?.id ?? '') ?? null);
      if (telling === null) continue;
      conditions.set(fingerprint, telling.condition);
      tellings.push(telling);
    }
    await tell(tx, tellings);
  }

  async function tell(tx: Transaction, tellings: readonly (Telling | null)[]): Promise<void> {
    const told = tellings.filter((telling) => telling !== null);
    if (told.length === 0) return;
    const last = new Map(told.map(({ condition }) => [condition.fingerprint, condition]));
    await saveConditions(tx, [...last.values()]);
    await storeSnapshots(tx, told.map(snapshotOf));
  }

  function snapshotOf({ alert, receivedAt }: Telling): NewSnapshot {
    const body = Buffer.from(internalAlertBody(alert, runbooks));
    return {
      id: newPublicId('SS'),
      integrationId,
      receivedAt,
      body,
      bodyHash: hash('sha256', body),
      contentType: 'application/json',
      shard: shardFor(integrationId, alert.name),
    };
  }
}

/** A store whose commits announce the Internal alerts that they wrote. */
export function announcing(store: ActorStore, internalAlerts: InternalAlerts): ActorStore {
  return {
    ...store,
    commit(batch, bind) {
      const commit = store.commit(batch, bind);
      const has = batch.records.some(({ type }) => internalAlerts.writer.types.includes(type));
      return has ? internalAlerts.announced(commit) : commit;
    },
  };
}

/** @throws on a database without one, which is not prepared */
export function builtinIntegration({ integrationsById }: Directory): PublicId {
  for (const { id, builtin } of integrationsById.values()) if (builtin) return id;
  throw new Error('there is no built-in Integration: the database was not prepared by a start');
}

function shardFor(integrationId: PublicId, name: InternalAlertName): number {
  return shardOf(feedAddress(feedKey(integrationId, groupKeyHash(internalGroupKey(name)))));
}

function neverBegun({ name, entity }: InternalAlertChange): Condition {
  const entityId = entity?.id ?? null;
  const fingerprint = internalFingerprint(name, entityId);
  const nothing = { extras: {}, labels: {}, date: '', since: 0, toldAt: 0 };
  return { fingerprint, name, entityId, raised: false, ...nothing };
}

function entityIds(changes: readonly InternalAlertChange[]): Map<EntityKind, PublicId[]> {
  const ids = new Map<EntityKind, PublicId[]>();
  for (const { entity } of changes) {
    if (!entity) continue;
    const kind = entityKindOf(entity.id);
    ids.set(kind, [...(ids.get(kind) ?? []), entity.id]);
  }
  for (const known of ids.values()) known.sort(compareKeys);
  return ids;
}

/**
 * Those that exist, as they are until the transaction ends: whoever renames or deletes one waits for it, or is waited
 * for. In one order of kinds and ids.
 */
async function lockEntities(
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
async function lockConditions(
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
async function lockConditionsOf(tx: Transaction, entityId: PublicId): Promise<Map<string, Condition>> {
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

async function saveConditions(tx: Transaction, conditions: readonly Condition[]): Promise<void> {
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
async function forgetConditionsOf(tx: Transaction, entityId: PublicId): Promise<void> {
  await tx`delete from internal_alerts where entity_id = ${entityId}`;
}
