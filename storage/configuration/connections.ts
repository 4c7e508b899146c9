/** Connections in Postgres: the store behind actors/connection/ports.ts. */
import { endsLinks } from '../../actors/account-links/link.ts';
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import { type Configured, connectionAddress, type Deleted } from '../../actors/connection/messages.ts';
import type {
  ConnectionDecision,
  ConnectionFields,
  ConnectionRemoval,
  ConnectionSecrets,
  ConnectionStore,
  ConnectionUpdate,
  IsCurrent,
  StoredConnection,
  WebhookSet,
} from '../../actors/connection/ports.ts';
import { type DestinationMessage, destinationAddress } from '../../actors/destination/messages.ts';
import type { AuditChange } from '../../actors/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealer } from '../../runtime/secrets/keyring.ts';
import { unlinkConnection } from '../access/account-links.ts';
import { savedThrough } from '../delivery/rerender.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import { inSealingTransaction, type SealingChange } from '../keys/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, unlessViolated } from '../postgres/transaction.ts';
import {
  type ConnectionRow,
  lockConnection,
  ownColumns,
  readConnection,
  selectConnections,
  storedConnection,
} from './connection-rows.ts';

export interface ConnectionStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly keyring: Keyring;
}

const NAME_RULE = 'connections_live_name';
const NONE_BEFORE = { proxyPasswordAt: null, pushSecretAt: null } as const;

export function createConnectionStore(deps: ConnectionStoreDeps): ConnectionStore {
  const { sql, appendAudit, keyring } = deps;
  const change = <Result>(
    author: Authorship,
    run: (made: SealingChange) => Promise<Result>,
  ): Promise<Result> =>
    inSealingTransaction(sql, keyring, (tx, sealer) => run({ tx, appendAudit, author, sealer }));

  return {
    page: (types, after, limit) => readPage(sql, types, after, limit),

    async read(id) {
      const row = await readConnection(sql, id);
      return row && storedConnection(row);
    },

    create: (fields, secrets, author, id = newPublicId('CN')) =>
      unlessViolated(NAME_RULE, 'name_taken', () =>
        change(author, (made) => insert(made, id, fields, secrets)),
      ),

    update: (id, decide, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' }, () =>
        change(author, (made) => update(made, id, decide)),
      ),

    remove: (id, isCurrent, author) => change(author, (made) => remove(made, id, isCurrent)),
  };
}

async function readPage(
  sql: Sql,
  types: readonly string[] | null,
  after: readonly [number, string] | null,
  limit: number,
) {
  const [createdAt, id] = after ?? [0, ''];
  // index: connections_list
  const rows = await sql<ConnectionRow[]>`
    ${selectConnections(sql)}
    where c.deleted_at is null
      and (c.created_at, c.id) > (${createdAt}, ${id})
      and (${types === null} or c.type = any(${[...(types ?? [])]}::text[]))
    order by c.created_at, c.id
    limit ${limit + 1}`;
  return { items: rows.slice(0, limit).map(storedConnection), more: rows.length > limit };
}

async function insert(
  { tx, appendAudit, author, sealer }: SealingChange,
  id: PublicId,
  fields: ConnectionFields,
  secrets: ConnectionSecrets,
): Promise<StoredConnection> {
  const { type, address, event_mode, update_mode } = ownColumns(fields);
  await tx`
    insert into connections (
      id, version, name, type, address, access, event_mode, update_mode, limiter, proxy, created_at
    )
    values (
      ${id}, 1, ${fields.name}, ${type}, ${address}, 1, ${event_mode}, ${update_mode},
      ${JSON.stringify(fields.limiter)}::text::jsonb, ${JSON.stringify(fields.proxy)}::text::jsonb, ${author.at}
    )`;
  await writeSecrets(tx, sealer, id, secrets, author);
  await tellConfiguration(tx, id, author);
  const diff = [...auditDiff(null, fields), ...secretChanges(secrets, NONE_BEFORE)];
  const entry = { action: 'connection.created', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return requireConnection(tx, id);
}

async function update<Refusal>(
  change: SealingChange,
  id: PublicId,
  decide: (current: StoredConnection) => ConnectionDecision<Refusal>,
): Promise<ConnectionUpdate<Refusal>> {
  const { tx, appendAudit, author, sealer } = change;
  const row = await lockConnection(tx, id);
  if (!row) return { outcome: 'unknown' };
  const current = storedConnection(row);
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const { save: fields, secrets } = decision;
  const diff = [...auditDiff(current.fields, fields), ...secretChanges(secrets, current)];
  if (diff.length === 0) return { outcome: 'unchanged', connection: current };
  const { address, event_mode, update_mode } = ownColumns(fields);
  const isElsewhere = address !== row.address;
  const isOtherAccess = isElsewhere || secrets.token !== null;
  await tx`
    update connections set
      version = version + 1,
      name = ${fields.name},
      address = ${address},
      event_mode = ${event_mode},
      update_mode = ${update_mode},
      webhook_blocks = webhook_blocks and update_mode = ${update_mode},
      limiter = ${JSON.stringify(fields.limiter)}::text::jsonb,
      proxy = ${JSON.stringify(fields.proxy)}::text::jsonb
    where id = ${id}`;
  if (isOtherAccess) await forgetAccess(tx, id);
  await writeSecrets(tx, sealer, id, secrets, author);
  await tellConfiguration(tx, id, author);
  await savedThrough(tx, id, isOtherAccess, author.at);
  const entry = { action: 'connection.updated', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  const unlinked = endsLinks(fields.type, row.address, address)
    ? await unlinkConnection(change, id, 'connection_changed')
    : [];
  return { outcome: 'saved', connection: await requireConnection(tx, id), unlinked };
}

async function remove(change: SealingChange, id: PublicId, isCurrent: IsCurrent): Promise<ConnectionRemoval> {
  const { tx, appendAudit, author } = change;
  const row = await lockConnection(tx, id);
  if (!row) return { outcome: 'unknown' };
  if (isCurrent && !isCurrent(row.version)) return { outcome: 'stale' };
  if (row.destination_count > 0) return { outcome: 'in_use' };
  await tx`
    update connections set
      version = version + 1,
      deleted_at = ${author.at},
      bridge_token = null,
      bridge_token_at = null,
      bridge_push_secret = null,
      bridge_push_secret_at = null,
      webhook_secret = null,
      webhook_secret_at = null,
      webhook_url = null,
      proxy_password = null,
      proxy_password_at = null
    where id = ${id}`;
  // index: request_records_owner
  await tx`delete from request_records where owner_id = ${id}`;
  const message: Deleted = { type: 'deleted', version: row.version + 1 };
  await enqueueInbox(tx, [{ to: connectionAddress(id), message }], author.at);
  await endLastEdits(tx, id, author.at);
  const entry = { action: 'connection.deleted', resourceId: id, resourceName: row.name };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'removed', unlinked: await unlinkConnection(change, id, 'connection_deleted') };
}

/** What was known of the address or the token before does not count for the next. */
async function forgetAccess(tx: Transaction, id: PublicId): Promise<void> {
  await tx`
    update connections set
      access = access + 1,
      info = null,
      info_at = null,
      info_failed_at = null,
      info_wrong = null,
      tokenless = false,
      webhook_blocks = false,
      inbound_error = null,
      inbound_since = null
    where id = ${id}`;
}

async function writeSecrets(
  tx: Transaction,
  sealer: Sealer,
  id: PublicId,
  { token, pushSecret, proxyPassword, webhook }: ConnectionSecrets,
  { at }: Authorship,
): Promise<void> {
  if (webhook) await writeWebhook(tx, sealer, id, webhook, at);
  if (token !== null) {
    await tx`
      update connections set
        bridge_token = ${sealer.seal('connection.bridge_token', id, token)}, bridge_token_at = ${at}
      where id = ${id}`;
  }
  if (pushSecret !== null) {
    const sealed =
      pushSecret === 'clear' ? null : sealer.seal('connection.bridge_push_secret', id, pushSecret);
    await tx`
      update connections set bridge_push_secret = ${sealed}, bridge_push_secret_at = ${sealed && at}
      where id = ${id}`;
  }
  if (proxyPassword.kind === 'keep') return;
  const password =
    proxyPassword.kind === 'clear'
      ? null
      : sealer.seal('connection.proxy_password', id, proxyPassword.password);
  await tx`
    update connections set proxy_password = ${password}, proxy_password_at = ${password && at}
    where id = ${id}`;
}

/** What the messenger was told of a webhook, outside of a save. */
export function storeWebhook(
  sql: Sql,
  keyring: Keyring,
  id: PublicId,
  webhook: WebhookSet,
  at: Micros,
): Promise<void> {
  return inSealingTransaction(sql, keyring, (tx, sealer) => writeWebhook(tx, sealer, id, webhook, at));
}

async function writeWebhook(
  tx: Transaction,
  sealer: Sealer,
  id: PublicId,
  { url, secret }: WebhookSet,
  at: Micros,
): Promise<void> {
  const sealed = secret === null ? null : sealer.seal('connection.webhook_secret_token', id, secret);
  await tx`
    update connections set
      webhook_url = ${url}, webhook_secret = ${sealed}, webhook_secret_at = ${at}
    where id = ${id} and deleted_at is null`;
}

/** Clearing what was not there is no change. */
function secretChanges(
  { token, pushSecret, proxyPassword }: ConnectionSecrets,
  { proxyPasswordAt, pushSecretAt }: Pick<StoredConnection, 'proxyPasswordAt' | 'pushSecretAt'>,
): readonly AuditChange[] {
  const isOtherPassword =
    proxyPassword.kind === 'set' || (proxyPassword.kind === 'clear' && proxyPasswordAt !== null);
  const isOtherPushSecret = pushSecret !== null && (pushSecret !== 'clear' || pushSecretAt !== null);
  return [
    ...(token === null ? [] : [{ pointer: '/bot_token', secret_changed: true } as const]),
    ...(isOtherPushSecret ? [{ pointer: '/push_secret', secret_changed: true } as const] : []),
    ...(isOtherPassword ? [{ pointer: '/proxy/password', secret_changed: true } as const] : []),
  ];
}

/** Tells the actor what is stored now; the Connection is written, and still locked. */
async function tellConfiguration(tx: Transaction, id: PublicId, { at }: Authorship): Promise<void> {
  const { version, access, event_mode, update_mode, limiter } = await requireRow(tx, id);
  const polls = event_mode === 'poll' || update_mode === 'long_polling';
  const message: Configured = { type: 'configured', version, access, polls, limiter };
  await enqueueInbox(tx, [{ to: connectionAddress(id), message }], at);
}

async function requireConnection(tx: Transaction, id: PublicId): Promise<StoredConnection> {
  return storedConnection(await requireRow(tx, id));
}

async function requireRow(tx: Transaction, id: PublicId): Promise<ConnectionRow> {
  const row = await readConnection(tx, id);
  if (!row) throw new Error(`Connection ${id} was just stored and yet is not there`);
  return row;
}

/** Last edits through a Connection that is deleted: they end, and nothing waits for a token of it (delivery §10). */
const LOOK_AGAIN: DestinationMessage = { type: 'saved' };

/** Tells those that were deleted, or pointed elsewhere, with something still to do. */
async function endLastEdits(tx: Transaction, connectionId: PublicId, at: Micros): Promise<void> {
  // indexes: destinations_of_connection, deliveries_wanted
  const rows = await tx<{ id: PublicId }[]>`
    with posted as (
      select id from destinations where connection_id = ${connectionId}
      union
      select destination_id from destination_targets where connection_id = ${connectionId}
    )
    select id from posted
    where exists (select 1 from deliveries where destination_id = posted.id and wanted)
    order by id`;
  const entries = rows.map(({ id }) => ({ to: destinationAddress(id), message: LOOK_AGAIN }));
  await enqueueInbox(tx, entries, at);
}
