/** What is written of a Destination by its type, and the Secrets of a webhook. */
import { type Authorship, auditEntry } from '../../actors/audit.ts';
import { newSigningSecret } from '../../actors/channels/signature.ts';
import { type DestinationMessage, destinationAddress } from '../../actors/destination/messages.ts';
import {
  type DestinationChange,
  type DestinationStore,
  type FoundPlace,
  type MessengerFields,
  MOST_SECRETS,
  type SecretEntry,
  type WebhookFields,
} from '../../actors/destination/ports.ts';
import { LEFT_EVENTS_ERROR } from '../../actors/destination/turn.ts';
import type { AuditChange } from '../../actors/effects.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Keyring, Sealed, Sealer } from '../../runtime/secrets/keyring.ts';
import { endWaitingEvents } from '../delivery/webhook-records.ts';
import { enqueueInbox } from '../engine/inbox.ts';
import type { SealingChange } from '../keys/keyring.ts';
import { changedPassword } from '../keys/sealed-values.ts';
import type { Sql, Transaction } from '../postgres/records.ts';
import { type DestinationRow, lockDestination, readDestination } from './destination-rows.ts';

export const NO_PASSWORD = { proxy_password: null, proxy_password_at: null } as const;

export async function insertWebhook(
  { tx, author, sealer }: SealingChange,
  id: PublicId,
  fields: WebhookFields,
  proxyPassword: DestinationChange['proxyPassword'],
  signingSecret: string,
): Promise<void> {
  const password = changedPassword(sealer, proxyPlace(id, author), proxyPassword, NO_PASSWORD);
  await tx`
    insert into destinations (
      id, version, name, type, mode, events, template, mentions, limiter, proxy, proxy_password, proxy_password_at,
      secrets_version, created_at, signing_secret, signing_secret_at
    )
    values (
      ${id}, 1, ${fields.name}, 'webhook', ${fields.mode}, ${jsonOrNull(fields.events)}::text::jsonb, ${jsonOrNull(fields.template)}::text::jsonb,
      ${json(fields.mentions)}::text::jsonb, ${json(fields.limiter)}::text::jsonb, ${json(fields.proxy)}::text::jsonb,
      ${password.proxy_password}, ${password.proxy_password_at}, 1, ${author.at},
      ${sealer.seal('destination.signing_secret', id, signingSecret)}, ${author.at}
    )`;
}

export async function updateWebhook(
  { tx, author, sealer }: SealingChange,
  row: DestinationRow,
  fields: WebhookFields,
  proxyPassword: DestinationChange['proxyPassword'],
): Promise<void> {
  const password = changedPassword(sealer, proxyPlace(row.id, author), proxyPassword, row);
  await tx`
    update destinations set
      mode = ${fields.mode},
      events = ${jsonOrNull(fields.events)}::text::jsonb,
      template = ${jsonOrNull(fields.template)}::text::jsonb,
      proxy = ${json(fields.proxy)}::text::jsonb,
      proxy_password = ${password.proxy_password},
      proxy_password_at = ${password.proxy_password_at}
    where id = ${row.id}`;
  if (row.mode !== fields.mode) await tellForSure(tx, row.id, { type: 'saved' }, author);
  if (row.mode === 'events' && fields.mode !== 'events') {
    await endWaitingEvents(tx, { destinationId: row.id, error: LEFT_EVENTS_ERROR, at: author.at });
  }
}

export async function insertMessenger(
  { tx, author }: SealingChange,
  id: PublicId,
  fields: MessengerFields,
  found: FoundPlace | null,
): Promise<void> {
  await tx`
    insert into destinations (
      id, version, name, type, connection_id, team_id, channel_id, mentions, limiter, secrets_version, created_at
    )
    values (
      ${id}, 1, ${fields.name}, ${fields.type}, ${fields.connection_id}, ${fields.team_id ?? null},
      ${fields.channel_id}, ${json(fields.mentions)}::text::jsonb, ${json(fields.limiter)}::text::jsonb, 1, ${author.at}
    )`;
  if (found) await describePlace(tx, id, found);
}

/**
 * Tells the Destination with the change itself what it must not miss: where its messages go, and that it is no more.
 * Whoever made the change tells it too, sooner, but may be gone before.
 */
export function tellForSure(
  tx: Transaction,
  id: PublicId,
  message: DestinationMessage,
  { at }: Authorship,
): Promise<void> {
  return enqueueInbox(tx, [{ to: destinationAddress(id), message }], at);
}

/** Messages stay where they were posted: the place that is left is kept for their last edit (delivery §10). */
export async function updateTarget(
  tx: Transaction,
  row: DestinationRow,
  fields: MessengerFields,
  author: Authorship,
): Promise<void> {
  const { connection_id: connectionId, team_id: teamId = null, channel_id: channelId } = fields;
  if (row.team_id !== teamId) await tx`update destinations set team_id = ${teamId} where id = ${row.id}`;
  if (row.connection_id === connectionId && row.channel_id === channelId) return;
  const { at } = author;
  await tellForSure(tx, row.id, { type: 'saved' }, author);
  await tx`
    insert into destination_targets (destination_id, target, connection_id, channel_id, left_at)
    select id, target, connection_id, channel_id, ${at} from destinations where id = ${row.id}`;
  await tx`
    update destinations set
      target = target + 1,
      connection_id = ${connectionId},
      channel_id = ${channelId}
    where id = ${row.id}`;
}

export async function describePlace(tx: Transaction, id: PublicId, found: FoundPlace): Promise<void> {
  await tx`update destinations set ${foundColumns(tx, found)} where id = ${id}`;
}

/** What a check found, as an assignment to columns. */
export function foundColumns(sql: Sql | Transaction, found: FoundPlace) {
  const { channelName, teamName, teamPath, channel } = found;
  return sql`
    channel_name = ${channelName},
    team_name = ${teamName},
    team_path = ${teamPath},
    chat_id = ${channel?.channelId ?? null},
    chat_username = ${channel?.username ?? null},
    discussion_group_id = ${channel?.groupId ?? null},
    discussion_group_title = ${channel?.groupName ?? null}`;
}

/** Keeps the Connection from being deleted until the transaction ends; false when it is gone. */
export async function holdConnection(
  tx: Transaction,
  { type, connection_id: id }: MessengerFields,
): Promise<boolean> {
  const rows = await tx`
    select 1 from connections where id = ${id} and type = ${type} and deleted_at is null for share`;
  return rows.length > 0;
}

/** SQL null for what is not there. */
function jsonOrNull(value: unknown): string | null {
  return value === null ? null : json(value);
}

function proxyPlace(owner: PublicId, { at }: Authorship) {
  return { field: 'destination.proxy_password', owner, at } as const;
}

export function json(value: unknown): string {
  return JSON.stringify(value);
}

/** Secrets and signing secrets of Destinations, sealed (webhooks §2, secrets §3). */
export interface DestinationSecretDeps {
  readonly sql: Sql;
  readonly keyring: Keyring;
  change<Result>(author: Authorship, run: (made: SealingChange) => Promise<Result>): Promise<Result>;
  random(size: number): Uint8Array;
}

type SecretMethods = Pick<
  DestinationStore,
  'secrets' | 'putSecret' | 'deleteSecret' | 'generateSigningSecret' | 'retirePreviousSigningSecret'
>;

export function destinationSecrets({ sql, keyring, change, random }: DestinationSecretDeps): SecretMethods {
  return {
    async secrets(id) {
      const row = await readDestination(sql, id);
      if (!row) return null;
      const items = await sql<SecretRow[]>`
        select name, value is not null as is_set, updated_at from destination_secrets where destination_id = ${id} order by name`;
      return { version: row.secrets_version, items: items.map(secretEntry) };
    },

    putSecret: (id, { name, value }, isCurrent, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return { outcome: 'unknown' };
        if (isCurrent && !isCurrent(row.secrets_version)) return { outcome: 'stale' };
        if (await isFull(made, id, name)) return { outcome: 'too_many' };
        const sealed = made.sealer.seal('destination.secret', `${id}/${name}`, value);
        await made.tx`
          insert into destination_secrets (destination_id, name, value, updated_at)
          values (${id}, ${name}, ${sealed}, ${author.at})
          on conflict (destination_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`;
        return { outcome: 'saved', version: await secretChanged(made, row, name), updatedAt: author.at };
      }),

    deleteSecret: (id, name, isCurrent, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return { outcome: 'unknown' };
        const found = await made.tx`
          select 1 from destination_secrets where destination_id = ${id} and name = ${name}`;
        if (found.length === 0) return { outcome: 'unknown' };
        if (isCurrent && !isCurrent(row.secrets_version)) return { outcome: 'stale' };
        await made.tx`delete from destination_secrets where destination_id = ${id} and name = ${name}`;
        return { outcome: 'saved', version: await secretChanged(made, row, name), updatedAt: author.at };
      }),

    generateSigningSecret: (id, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return null;
        const secret = newSigningSecret(random);
        const previous = resealedAsPrevious(keyring, made.sealer, row);
        const previousSince = previous === null ? null : author.at;
        await made.tx`
          update destinations set
            signing_secret = ${made.sealer.seal('destination.signing_secret', id, secret)},
            signing_secret_at = ${author.at},
            signing_secret_previous = ${previous},
            signing_secret_previous_at = ${previousSince}
          where id = ${id}`;
        await audit(made, row, 'destination.signing_secret_generated');
        return { secret, status: { updatedAt: author.at, previousSince } };
      }),

    retirePreviousSigningSecret: (id, author) =>
      change(author, async (made) => {
        const row = await lockDestination(made.tx, id);
        if (!row) return 'unknown';
        if (row.signing_secret_previous === null) return 'nothing_to_retire';
        await made.tx`
          update destinations set signing_secret_previous = null, signing_secret_previous_at = null
          where id = ${id}`;
        await audit(made, row, 'destination.signing_secret_retired');
        return 'retired';
      }),
  };
}

/** A value that moves to another field is bound anew. One that no longer opens cannot sign and is dropped. */
function resealedAsPrevious(
  keyring: Keyring,
  sealer: Sealer,
  { id, signing_secret: current }: DestinationRow,
): Sealed | null {
  if (current === null) return null;
  const opened = keyring.open('destination.signing_secret', id, current);
  return opened.ok ? sealer.seal('destination.signing_secret_previous', id, opened.value) : null;
}

async function isFull({ tx }: SealingChange, id: PublicId, name: string): Promise<boolean> {
  const [row] = await tx<{ others: number }[]>`
    select count(*)::integer as others from destination_secrets
    where destination_id = ${id} and name <> ${name}`;
  return (row?.others ?? 0) >= MOST_SECRETS;
}

/** @returns the new version of the Secrets */
async function secretChanged(made: SealingChange, row: DestinationRow, name: string): Promise<number> {
  const version = row.secrets_version + 1;
  await made.tx`update destinations set secrets_version = ${version} where id = ${row.id}`;
  await audit(made, row, 'destination.updated', [{ pointer: `/secrets/${name}`, secret_changed: true }]);
  return version;
}

async function audit(
  { tx, appendAudit, author }: SealingChange,
  row: DestinationRow,
  action: string,
  diff: readonly AuditChange[] = [],
): Promise<void> {
  await appendAudit(tx, auditEntry(author, { action, resourceId: row.id, resourceName: row.name, diff }));
}

interface SecretRow {
  readonly name: string;
  readonly is_set: boolean;
  readonly updated_at: Micros;
}

function secretEntry(row: SecretRow): SecretEntry {
  return { name: row.name, isSet: row.is_set, updatedAt: row.updated_at };
}
