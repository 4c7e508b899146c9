/** Integrations and their tokens in Postgres: the store behind actors/integration/ports.ts. */
import { auditDiff, auditEntry } from '../actors/audit.ts';
import type {
  IntegrationDecision,
  IntegrationFields,
  IntegrationRemoval,
  IntegrationStore,
  IntegrationUpdate,
  StoredIntegration,
} from '../actors/integration/ports.ts';
import { newPublicId, type PublicId } from '../runtime/public-id.ts';
import type { AppendAudit } from './access.ts';
import { tellConfiguration } from './integration-news.ts';
import { placeOf, readIntegration, readIntegrationsAfter } from './integration-rows.ts';
import { addToken, readTokens, revokeToken } from './integration-token-rows.ts';
import type { InternalAlerts } from './internal-alerts.ts';
import type { Sql, Transaction } from './records.ts';
import { type Change, inTransaction, unlessViolated } from './transaction.ts';

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

async function createIntegration(change: Change, fields: IntegrationFields): Promise<StoredIntegration> {
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
