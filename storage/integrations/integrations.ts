/** Integrations in Postgres: the store behind actors/integration/ports.ts, and what their actors are notified of. */
import { auditDiff, auditEntry } from '../../actors/audit.ts';
import {
  type Configured,
  type Deleted,
  integrationAddress,
  type Signalled,
} from '../../actors/integration/messages.ts';
import type {
  IntegrationDecision,
  IntegrationFields,
  IntegrationRemoval,
  IntegrationStore,
  IntegrationUpdate,
  StoredIntegration,
} from '../../actors/integration/ports.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import { enqueueInbox, type InboxEntry } from '../engine/inbox.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, type Change, inTransaction, unlessViolated } from '../postgres/transaction.ts';
import type { InternalAlerts } from './internal-alerts.ts';
import { placeOf, readIntegration, readIntegrationsAfter } from './rows.ts';
import { addToken, readTokens, revokeToken } from './tokens.ts';

export interface IntegrationStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly internalAlerts: InternalAlerts;
}

const NAME_RULE = 'integrations_live_name';
/** Objects whose keys are people's own. */
const MAPS = ['/static_labels'];

export function createIntegrationStore(deps: IntegrationStoreDeps): IntegrationStore {
  const { sql, appendAudit, internalAlerts } = deps;
  return {
    async page(after, limit) {
      const found = await readIntegrationsAfter(sql, after, limit + 1);
      const integrations = found.slice(0, limit);
      const last = integrations.at(-1);
      return { integrations, next: found.length > limit && last ? placeOf(last) : null };
    },

    read: (id) => readIntegration(sql, id),

    create: (fields, author) =>
      unlessViolated(NAME_RULE, 'name_taken', () =>
        inTransaction(sql, (tx) => createIntegration({ tx, appendAudit, author }, fields)),
      ),

    update: (id, decide, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' }, () =>
        internalAlerts.announced(
          inTransaction(sql, (tx) =>
            updateIntegration({ tx, appendAudit, author }, internalAlerts, id, decide),
          ),
        ),
      ),

    remove: (id, isCurrent, author) =>
      internalAlerts.announced(
        inTransaction(sql, (tx) =>
          removeIntegration({ tx, appendAudit, author }, internalAlerts, id, isCurrent),
        ),
      ),

    async tokens(id) {
      const found = await sql`select 1 from integrations where id = ${id} and deleted_at is null`;
      return found.length > 0 ? readTokens(sql, id) : null;
    },

    addToken: (id, token, author) =>
      inTransaction(sql, (tx) => addToken({ tx, appendAudit, author }, id, token)),

    revokeToken: (id, tokenId, author) =>
      inTransaction(sql, (tx) => revokeToken({ tx, appendAudit, author }, id, tokenId)),
  };
}

export async function createIntegration(
  change: Change,
  fields: IntegrationFields,
): Promise<StoredIntegration> {
  const { tx, appendAudit, author } = change;
  const id = newPublicId('NT');
  await tx`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    values (
      ${id}, 1, false, ${fields.name}, ${fields.description}, ${JSON.stringify(fields.static_labels)}::text::jsonb,
      ${fields.duplicate_window_seconds}, ${fields.heartbeat.enabled}, ${fields.heartbeat.timeout_seconds},
      ${author.at}
    )`;
  await tellConfiguration(tx, id, author.at);
  const diff = auditDiff(null, fields, MAPS);
  const entry = { action: 'integration.create', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return requireIntegration(tx, id);
}

async function updateIntegration<Refusal>(
  change: Change,
  internalAlerts: InternalAlerts,
  id: PublicId,
  decide: (current: StoredIntegration) => IntegrationDecision<Refusal>,
): Promise<IntegrationUpdate<Refusal>> {
  const { tx, appendAudit, author } = change;
  const current = await lockIntegration(tx, id);
  if (!current) return { outcome: 'unknown' };
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const fields = decision.save;
  const diff = auditDiff(current.fields, fields, MAPS);
  if (diff.length === 0) return { outcome: 'unchanged', integration: current };
  // A Heartbeat that is switched off forgets its signals (ingestion §12).
  await tx`
    update integrations set
      version = version + 1,
      name = ${fields.name},
      description = ${fields.description},
      static_labels = ${JSON.stringify(fields.static_labels)}::text::jsonb,
      duplicate_window_seconds = ${fields.duplicate_window_seconds},
      heartbeat_enabled = ${fields.heartbeat.enabled},
      heartbeat_timeout_seconds = ${fields.heartbeat.timeout_seconds},
      last_signal_at = case when ${fields.heartbeat.enabled} then last_signal_at end
    where id = ${id}`;
  const entity = { id, name: fields.name, staticLabels: fields.static_labels };
  await internalAlerts.entityChanged(tx, entity, author.at);
  await tellConfiguration(tx, id, author.at);
  const entry = { action: 'integration.update', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'saved', integration: await requireIntegration(tx, id) };
}

async function removeIntegration(
  change: Change,
  internalAlerts: InternalAlerts,
  id: PublicId,
  isCurrent: ((version: number) => boolean) | null,
): Promise<IntegrationRemoval> {
  const { tx, appendAudit, author } = change;
  const current = await lockIntegration(tx, id);
  if (!current) return 'unknown';
  if (isCurrent && !isCurrent(current.version)) return 'stale';
  if (current.builtin) return 'builtin';
  const { name } = current.fields;
  await tx`update integrations set deleted_at = ${author.at} where id = ${id}`;
  await tellConfiguration(tx, id, author.at);
  await internalAlerts.entityDeleted(tx, id, author.at);
  const entry = { action: 'integration.delete', resourceId: id, resourceName: name };
  await appendAudit(tx, auditEntry(author, entry));
  return 'removed';
}

/** The Integration as it is, locked until the transaction ends; null when there is none. */
async function lockIntegration(tx: Transaction, id: PublicId): Promise<StoredIntegration | null> {
  await tx`select 1 from integrations where id = ${id} for update`;
  return readIntegration(tx, id);
}

async function requireIntegration(tx: Transaction, id: PublicId): Promise<StoredIntegration> {
  const integration = await readIntegration(tx, id);
  if (!integration) throw new Error(`Integration ${id} was written and is not there`);
  return integration;
}

/** What the actor of an Integration is told of its configuration, with the change itself (docs/architecture.md). */
interface ConfigurationRow {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly static_labels: Configured['staticLabels'];
  readonly heartbeat_enabled: boolean;
  readonly heartbeat_timeout_seconds: number;
  readonly deleted_at: Micros | null;
}

/** Tells the actor what is stored now; the Integration is written, and still locked. */
export async function tellConfiguration(tx: Transaction, id: PublicId, at: Micros): Promise<void> {
  const rows = await tx<ConfigurationRow[]>`
    select
      id, version, name, static_labels, heartbeat_enabled, heartbeat_timeout_seconds, deleted_at
    from integrations where id = ${id}`;
  await enqueueInbox(tx, rows.map(entryOf), at);
}

/**
 * Tells every actor whose Integration was saved without telling it: by the previous release, or before there were such
 * actors.
 * @returns how many were told
 */
export async function tellUntold(sql: Sql, at: Micros): Promise<number> {
  return inTransaction(sql, async (tx) => {
    const rows = await tx<ConfigurationRow[]>`
      select
        i.id, i.version, i.name, i.static_labels, i.heartbeat_enabled, i.heartbeat_timeout_seconds, i.deleted_at
      from integrations i
      left join integration_states s on s.integration_id = i.id
      where not i.builtin and i.ended_at is null
        and (s.integration_id is null or s.configuration_version < i.version + (i.deleted_at is not null)::int)
      order by i.id`;
    await enqueueInbox(tx, rows.map(entryOf), at);
    return rows.length;
  });
}

function entryOf(row: ConfigurationRow): InboxEntry {
  const { id, version, name, deleted_at } = row;
  const message: Configured | Deleted =
    deleted_at === null
      ? {
          type: 'configured',
          version,
          name,
          staticLabels: row.static_labels,
          heartbeat: { enabled: row.heartbeat_enabled, timeoutSeconds: row.heartbeat_timeout_seconds },
        }
      : // The previous release does not count a deletion as a version.
        { type: 'deleted', version: version + 1, name, at: deleted_at };
  return { to: integrationAddress(id), message };
}

/**
 * Stores Heartbeat signals and tells the Integration's actor of each with the same commit; nothing while the Heartbeat is
 * off (ingestion §12). The Integration stays locked from its time to its message, so that signals arrive in order,
 * whichever replicas take them; one that is overtaken says nothing new.
 * @param told makes whoever acts for the Integration look into the inbox
 */
export function createHeartbeatSignals(
  sql: Sql,
  told: (integrationId: PublicId) => void,
): { record(integrationId: PublicId, at: Micros): Promise<void> } {
  return {
    async record(integrationId, at) {
      const isNews = await inTransaction(sql, async (tx) => {
        const { count } = await tx`
          update integrations set last_signal_at = ${at}
          where id = ${integrationId} and heartbeat_enabled and deleted_at is null
            and (last_signal_at is null or last_signal_at < ${at})`;
        if (count === 0) return false;
        const message: Signalled = { type: 'signal', at };
        await enqueueInbox(tx, [{ to: integrationAddress(integrationId), message }], at);
        return true;
      });
      if (isNews) told(integrationId);
    },
  };
}
