/** Destinations in Postgres: the store behind actors/destination/ports.ts. */
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Authorship, auditDiff, auditEntry } from '../../actors/audit.ts';
import { newSigningSecret } from '../../actors/channels/signature.ts';
import type {
  CreatedDestination,
  DestinationChange,
  DestinationDecision,
  DestinationFilter,
  DestinationStore,
  DestinationUpdate,
  IsCurrent,
  StoredDestination,
  TestedDestination,
} from '../../actors/destination/ports.ts';
import { DELETED_ERROR } from '../../actors/destination/turn.ts';
import { newPublicId, type PublicId } from '../../runtime/public-id.ts';
import type { Keyring } from '../../runtime/secrets/keyring.ts';
import { endWaitingEvents } from '../delivery/webhook-records.ts';
import type { InternalAlerts } from '../integrations/internal-alerts.ts';
import { inSealingTransaction, type SealingChange } from '../keys/keyring.ts';
import { changesPassword } from '../keys/sealed-values.ts';
import { wordArray } from '../postgres/bulk-parameters.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type AppendAudit, unlessViolated } from '../postgres/transaction.ts';
import {
  type DestinationRow,
  destinationColumns,
  lockDestination,
  readDestination,
  storedDestination,
} from './destination-rows.ts';
import {
  describePlace,
  destinationSecrets,
  foundColumns,
  holdConnection,
  insertMessenger,
  insertWebhook,
  json,
  NO_PASSWORD,
  tellForSure,
  updateTarget,
  updateWebhook,
} from './destination-writes.ts';

export interface DestinationStoreDeps {
  readonly sql: Sql;
  readonly appendAudit: AppendAudit;
  readonly keyring: Keyring;
  readonly internalAlerts: InternalAlerts;
  readonly random?: (size: number) => Uint8Array;
}

const NAME_RULE = 'destinations_live_name';
const PASSWORD_CHANGED = { pointer: '/proxy/password', secret_changed: true } as const;

export function createDestinationStore(deps: DestinationStoreDeps): DestinationStore {
  const { sql, appendAudit, keyring, internalAlerts, random = randomBytes } = deps;
  const change = <Result>(
    author: Authorship,
    run: (made: SealingChange) => Promise<Result>,
  ): Promise<Result> =>
    inSealingTransaction(sql, keyring, (tx, sealer) => run({ tx, appendAudit, author, sealer }));

  return {
    page: (filter, after, limit) => readPage(sql, filter, after, limit),

    async read(id) {
      const row = await readDestination(sql, id);
      return row && storedDestination(row);
    },

    async isTaken(name, except) {
      // index: destinations_live_name
      const rows = await sql`
        select 1 from destinations where name = ${name} and deleted_at is null and id is distinct from ${except}`;
      return rows.length > 0;
    },

    create: (input, author) =>
      unlessViolated(NAME_RULE, 'name_taken', () => change(author, (made) => insert(made, input, random))),

    update: (id, decide, author) =>
      unlessViolated(NAME_RULE, { outcome: 'name_taken' }, () =>
        internalAlerts.announced(change(author, (made) => update(made, internalAlerts, id, decide))),
      ),

    remove: (id, isCurrent, author) =>
      internalAlerts.announced(change(author, (made) => remove(made, internalAlerts, id, isCurrent))),

    async placeFound({ id, fields, found: before }, found) {
      if (fields.type === 'webhook' || isDeepStrictEqual(before, found)) return false;
      const { connection_id: connectionId, channel_id: channelId } = fields;
      const renamed = await sql`
        update destinations set ${foundColumns(sql, found)}
        where id = ${id} and connection_id = ${connectionId} and channel_id = ${channelId} and deleted_at is null`;
      return renamed.count > 0;
    },

    tested: (destination, test, author) => change(author, (made) => recordTest(made, destination, test)),

    ...destinationSecrets({ sql, change, keyring, random }),
  };
}

async function readPage(
  sql: Sql,
  { types, health, ids }: DestinationFilter,
  after: readonly [number, string] | null,
  limit: number,
) {
  const [createdAt, id] = after ?? [0, ''];
  const broken = health?.map((state) => String(state === 'broken')) ?? null;
  // index: destinations_list
  const rows = await sql<DestinationRow[]>`
    select ${destinationColumns(sql)} from destinations d
    where deleted_at is null
      and (created_at, id) > (${createdAt}, ${id})
      and (${types === null} or type = any(${[...(types ?? [])]}::text[]))
      and (${broken === null} or (broken_since is not null) = any(${wordArray(broken ?? [])}::boolean[]))
      and (${ids === null} or id = any(${[...(ids ?? [])]}::text[]))
    order by created_at, id
    limit ${limit + 1}`;
  return { items: rows.slice(0, limit).map(storedDestination), more: rows.length > limit };
}

async function insert(
  made: SealingChange,
  input: DestinationChange,
  random: (size: number) => Uint8Array,
): Promise<CreatedDestination | 'no_connection'> {
  const { fields, proxyPassword } = input;
  const id = newPublicId('DS');
  let signingSecret: string | null = null;
  if (fields.type === 'webhook') {
    signingSecret = newSigningSecret(random);
    await insertWebhook(made, id, fields, proxyPassword, signingSecret);
  } else {
    if (!(await holdConnection(made.tx, fields))) return 'no_connection';
    await insertMessenger(made, id, fields, input.found);
  }
  const diff = [
    ...auditDiff(null, fields),
    ...(changesPassword(proxyPassword, NO_PASSWORD) ? [PASSWORD_CHANGED] : []),
  ];
  const entry = { action: 'destination.created', resourceId: id, resourceName: fields.name, diff };
  await made.appendAudit(made.tx, auditEntry(made.author, entry));
  return { destination: storedDestination(await requireDestination(made.tx, id)), signingSecret };
}

async function update<Refusal>(
  made: SealingChange,
  internalAlerts: InternalAlerts,
  id: PublicId,
  decide: (current: StoredDestination) => DestinationDecision<Refusal>,
): Promise<DestinationUpdate<Refusal>> {
  const { tx, appendAudit, author } = made;
  const row = await lockDestination(tx, id);
  if (!row) return { outcome: 'unknown' };
  const current = storedDestination(row);
  const decision = decide(current);
  if ('refuse' in decision) return { outcome: 'refused', refusal: decision.refuse };
  const { fields, proxyPassword, found: newlyFound } = decision.save;
  if (fields.type !== 'webhook' && !(await holdConnection(tx, fields))) return { outcome: 'no_connection' };
  const found = newlyFound ?? current.found;
  if (!isDeepStrictEqual(found, current.found)) await describePlace(tx, id, found);
  const diff = [
    ...auditDiff(current.fields, fields),
    ...(changesPassword(proxyPassword, row) ? [PASSWORD_CHANGED] : []),
  ];
  if (diff.length === 0) return { outcome: 'unchanged', destination: { ...current, found } };
  await tx`
    update destinations set
      version = version + 1,
      name = ${fields.name},
      mentions = ${json(fields.mentions)}::text::jsonb,
      limiter = ${json(fields.limiter)}::text::jsonb
    where id = ${id}`;
  if (fields.type === 'webhook') await updateWebhook(made, row, fields, proxyPassword);
  else await updateTarget(tx, row, fields, author);
  await internalAlerts.entityChanged(tx, { id, name: fields.name, staticLabels: {} }, author.at);
  const entry = { action: 'destination.updated', resourceId: id, resourceName: fields.name, diff };
  await appendAudit(tx, auditEntry(author, entry));
  return { outcome: 'saved', destination: storedDestination(await requireDestination(tx, id)) };
}

async function remove(
  { tx, appendAudit, author }: SealingChange,
  internalAlerts: InternalAlerts,
  id: PublicId,
  isCurrent: IsCurrent,
) {
  const row = await lockDestination(tx, id);
  if (!row) return 'unknown';
  if (isCurrent && !isCurrent(row.version)) return 'stale';
  await tx`
    update destinations set
      deleted_at = ${author.at},
      signing_secret = null,
      signing_secret_at = null,
      signing_secret_previous = null,
      signing_secret_previous_at = null,
      proxy_password = null,
      proxy_password_at = null
    where id = ${id}`;
  // index: request_records_owner
  await tx`delete from request_records where owner_id = ${id}`;
  await tx`delete from destination_secrets where destination_id = ${id}`;
  await endWaitingEvents(tx, { destinationId: id, error: DELETED_ERROR, at: author.at });
  await tellForSure(tx, id, { type: 'deleted' }, author);
  await internalAlerts.entityDeleted(tx, id, author.at);
  const entry = { action: 'destination.deleted', resourceId: id, resourceName: row.name };
  await appendAudit(tx, auditEntry(author, entry));
  return 'removed';
}

async function recordTest(
  { tx, appendAudit, author }: SealingChange,
  { id, fields }: StoredDestination,
  { source, steps, message }: TestedDestination,
): Promise<void> {
  const groupId = source.kind === 'alert_group' ? source.groupId : null;
  if (message) {
    await tx`
      insert into delivered_messages (connection_id, message_id, destination_id, kind, group_id, is_present, posted_at)
      values (${message.connectionId}, ${message.messageId}, ${id}, 'test', ${groupId}, false, ${author.at})
      on conflict do nothing`;
  }
  const told = {
    source: { kind: source.kind, alert_group_id: groupId },
    steps: steps.map(({ name, errorClass }) => ({ name, error_class: errorClass })),
  };
  const entry = { action: 'destination.tested', resourceId: id, resourceName: fields.name, details: told };
  await appendAudit(tx, auditEntry(author, entry));
}

async function requireDestination(tx: Transaction, id: PublicId): Promise<DestinationRow> {
  const row = await readDestination(tx, id);
  if (!row) throw new Error(`Destination ${id} was just stored and yet is not there`);
  return row;
}
