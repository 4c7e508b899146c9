/** What is written of a Destination, by its type: a webhook, or a channel behind a bridge. */
import type { Authorship } from '../actors/audit.ts';
import { type DestinationMessage, destinationAddress } from '../actors/destination/messages.ts';
import type { BridgeFields, DestinationChange, WebhookFields } from '../actors/destination/ports.ts';
import { LEFT_EVENTS_ERROR } from '../actors/destination/turn.ts';
import type { PublicId } from '../runtime/public-id.ts';
import type { DestinationRow } from './destination-rows.ts';
import { enqueueInbox } from './inbox.ts';
import { changedPassword } from './proxy-columns.ts';
import type { Transaction } from './records.ts';
import type { SealingChange } from './sealing.ts';

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
    await endWaitingEvents(tx, row.id, LEFT_EVENTS_ERROR, author);
  }
}

export async function insertBridge(
  { tx, author }: SealingChange,
  id: PublicId,
  fields: BridgeFields,
  channelName: string | null,
): Promise<void> {
  await tx`
    insert into destinations (
      id, version, name, type, connection_id, channel_id, channel_name, mentions, limiter, secrets_version, created_at
    )
    values (
      ${id}, 1, ${fields.name}, 'bridge', ${fields.connection_id}, ${fields.channel_id}, ${channelName},
      ${json(fields.mentions)}::text::jsonb, ${json(fields.limiter)}::text::jsonb, 1, ${author.at}
    )`;
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
  fields: BridgeFields,
  author: Authorship,
): Promise<void> {
  if (row.connection_id === fields.connection_id && row.channel_id === fields.channel_id) return;
  const { at } = author;
  await tellForSure(tx, row.id, { type: 'saved' }, author);
  await tx`
    insert into destination_targets (destination_id, target, connection_id, channel_id, left_at)
    select id, target, connection_id, channel_id, ${at} from destinations where id = ${row.id}`;
  await tx`
    update destinations set
      target = target + 1,
      connection_id = ${fields.connection_id},
      channel_id = ${fields.channel_id}
    where id = ${row.id}`;
}

export async function nameChannel(tx: Transaction, id: PublicId, name: string | null): Promise<void> {
  await tx`update destinations set channel_name = ${name} where id = ${id}`;
}

/** Keeps the Connection from being deleted until the transaction ends; false when it is gone. */
export async function holdConnection(
  tx: Transaction,
  { type, connection_id: id }: BridgeFields,
): Promise<boolean> {
  const rows = await tx`
    select 1 from connections where id = ${id} and type = ${type} and deleted_at is null for share`;
  return rows.length > 0;
}

export async function endWaitingEvents(
  tx: Transaction,
  id: PublicId,
  error: string,
  { at }: Authorship,
): Promise<void> {
  // index: webhook_events_waiting
  await tx`
    update webhook_events set
      state = 'not_delivered', error = ${error}, next_attempt_at = null, updated_at = ${at}, finished_at = ${at}
    where destination_id = ${id} and finished_at is null`;
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
