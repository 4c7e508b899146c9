/** Reads Destinations as configuration shows them, and as their requests need them. */
import type {
  DestinationFields,
  FoundPlace,
  SealedSettings,
  StoredDestination,
  TemplateSettings,
  WebhookSettings,
} from '../../actors/destination/ports.ts';
import type { EventsConfig, TemplateConfig } from '../../actors/destination/webhook-config.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sealed } from '../../runtime/secrets/keyring.ts';
import type { ProxyRow } from '../keys/sealed-values.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

export interface DestinationRow extends ProxyRow {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly type: DestinationFields['type'];
  /** Of a webhook, as is what follows. */
  readonly mode: 'events' | 'template' | null;
  readonly events: EventsConfig | null;
  readonly template: TemplateConfig | null;
  /** Of a messenger, as is what follows. */
  readonly connection_id: PublicId | null;
  readonly channel_id: string | null;
  readonly channel_name: string | null;
  /** Of a chat server, as is what follows. */
  readonly team_id: string | null;
  readonly team_name: string | null;
  readonly team_path: string | null;
  /** Of a channel bot, as is what follows. */
  readonly chat_id: string | null;
  readonly chat_username: string | null;
  readonly discussion_group_id: string | null;
  readonly discussion_group_title: string | null;
  readonly mentions: DestinationFields['mentions'];
  readonly limiter: DestinationFields['limiter'];
  readonly secrets_version: number;
  readonly created_at: Micros;
  readonly signing_secret: Sealed | null;
  readonly signing_secret_at: Micros | null;
  readonly signing_secret_previous: Sealed | null;
  readonly signing_secret_previous_at: Micros | null;
  readonly broken_since: Micros | null;
  readonly broken_reason: string | null;
  readonly failing_since: Micros | null;
  readonly failing_error: string | null;
  readonly template_error: string | null;
  readonly template_error_since: Micros | null;
  readonly template_error_request: string | null;
  readonly waiting: number;
}

/** Every column of `destinations d`, with how many events and messages wait, counted as `svc_delivery_queue` does. */
export function destinationColumns(sql: Sql | Transaction) {
  // indexes: webhook_events_waiting, deliveries_wanted
  return sql`
    d.*,
    (
      (select count(*) from webhook_events e where e.destination_id = d.id and e.finished_at is null) +
      (select count(*) from deliveries w where w.destination_id = d.id and w.wanted)
    )::int as waiting`;
}

/** A live Destination. */
export async function readDestination(sql: Sql | Transaction, id: PublicId): Promise<DestinationRow | null> {
  const [row] = await sql<DestinationRow[]>`
    select ${destinationColumns(sql)} from destinations d where id = ${id} and deleted_at is null`;
  return row ?? null;
}

/** The same, held against other changes until the transaction ends. */
export async function lockDestination(tx: Transaction, id: PublicId): Promise<DestinationRow | null> {
  const [row] = await tx<DestinationRow[]>`
    select ${destinationColumns(tx)} from destinations d where id = ${id} and deleted_at is null for update`;
  return row ?? null;
}

export function storedDestination(row: DestinationRow): StoredDestination {
  const { broken_since: since, failing_since: failingSince } = row;
  return {
    id: row.id,
    version: row.version,
    fields: fieldsOf(row),
    found: foundOf(row),
    proxyPasswordAt: row.proxy_password_at,
    signingSecret: {
      updatedAt: row.signing_secret_at,
      previousSince: row.signing_secret_previous_at,
    },
    health:
      since === null ? { state: 'healthy' } : { state: 'broken', since, reason: row.broken_reason ?? '' },
    failing: failingSince === null ? null : { since: failingSince, error: row.failing_error ?? '' },
    waiting: row.waiting,
    templateError: templateErrorOf(row),
    createdAt: row.created_at,
  };
}

function foundOf(row: DestinationRow): FoundPlace {
  const { chat_id: channelId, discussion_group_id: groupId } = row;
  const names = { channelName: row.channel_name, teamName: row.team_name, teamPath: row.team_path };
  if (channelId === null || groupId === null) return names;
  const { chat_username: username, discussion_group_title: groupName } = row;
  return { ...names, channel: { channelId, username, groupId, groupName } };
}

/** Errors of before there was another mode name no request. */
function templateErrorOf(row: DestinationRow): StoredDestination['templateError'] {
  const { template_error: error, template_error_since: since, template_error_request: request } = row;
  return error === null || since === null ? null : { request: request ?? 'events', since, error };
}

function fieldsOf(row: DestinationRow): DestinationFields {
  const { type, name, mentions, limiter } = row;
  if (type === 'webhook') {
    const { mode, events, template, proxy } = row;
    if (mode === null) throw new Error(`webhook ${row.id} has no mode`);
    return { type, name, mode, events, template, mentions, limiter, proxy };
  }
  const { connection_id: connectionId, channel_id: channelId } = row;
  if (connectionId === null || channelId === null) throw new Error(`Destination ${row.id} has no channel`);
  const team = row.team_id === null ? {} : { team_id: row.team_id };
  return { type, name, connection_id: connectionId, ...team, channel_id: channelId, mentions, limiter };
}

export interface WebhookSettingsSource {
  /** The settings of this moment with sealed Secrets; null for a Destination that is gone, or has no such block. */
  events(id: PublicId): Promise<WebhookSettings | null>;
  template(id: PublicId): Promise<TemplateSettings | null>;
  /** Something of this Destination was saved: the next read asks the database. */
  forget(id: PublicId): void;
  /** Something of some Destination was saved by another process. */
  forgetAll(): void;
}

/** A change made by another process counts after this at the latest, whatever gets lost (outbound-http §2). */
const KEPT_FOR: Micros = 10 * SECOND;

/** Keeps settings, sealed, between requests. */
export function createWebhookSettings(sql: Sql, clock: Clock): WebhookSettingsSource {
  const held = new Map<string, { readonly settings: Promise<AnySettings | null>; readonly until: Micros }>();

  const read = (id: PublicId): Promise<AnySettings | null> => {
    const known = held.get(id);
    if (known && clock.now() < known.until) return known.settings;
    const settings = readSettings(sql, id);
    held.set(id, { settings, until: clock.now() + KEPT_FOR });
    settings.catch(() => {
      if (held.get(id)?.settings === settings) held.delete(id);
    });
    return settings;
  };

  return {
    events: async (id) => eventsSettings(await read(id)),
    template: async (id) => templateSettings(await read(id)),
    forget: (id) => void held.delete(id),
    forgetAll: () => held.clear(),
  };
}

interface SettingsRow extends DestinationRow {
  /** Sealed values by name. */
  readonly secrets: Readonly<Record<string, Sealed | null>>;
}

/** Both blocks, whichever is in use. */
interface AnySettings {
  readonly sealed: SealedSettings;
  readonly events: EventsConfig | null;
  readonly template: TemplateConfig | null;
}

async function readSettings(sql: Sql | Transaction, id: PublicId): Promise<AnySettings | null> {
  const [row] = await sql<SettingsRow[]>`
    ${withSecrets(sql)}
    where d.id = ${id} and d.deleted_at is null`;
  return row ? webhookSettings(row) : null;
}

function templateSettings(settings: AnySettings | null): TemplateSettings | null {
  return settings?.template ? { ...settings.sealed, template: settings.template } : null;
}

function eventsSettings(settings: AnySettings | null): WebhookSettings | null {
  return settings?.events ? { ...settings.sealed, events: settings.events } : null;
}

/** A Destination with what its requests are made of. */
export interface WebhookDestination extends StoredDestination {
  /** Of the mode in use. */
  readonly settings: WebhookSettings | TemplateSettings;
}

/** Every live webhook, by name. */
export async function readWebhookDestinations(
  sql: Sql | Transaction,
): Promise<readonly WebhookDestination[]> {
  const rows = await sql<SettingsRow[]>`
    ${withSecrets(sql)}
    where d.type = 'webhook' and d.deleted_at is null
    order by d.name`;
  return rows.flatMap((row) => {
    const both = webhookSettings(row);
    const settings = row.mode === 'template' ? templateSettings(both) : eventsSettings(both);
    return settings ? [{ ...storedDestination(row), settings }] : [];
  });
}

/** Every live channel of a messenger, by name. */
export async function readMessengerDestinations(
  sql: Sql | Transaction,
): Promise<readonly StoredDestination[]> {
  const rows = await sql<SettingsRow[]>`
    ${withSecrets(sql)}
    where d.connection_id is not null and d.deleted_at is null
    order by d.name`;
  return rows.map(storedDestination);
}

function withSecrets(sql: Sql | Transaction) {
  return sql`
    select
      d.*,
      (
        select coalesce(jsonb_object_agg(s.name, s.value), '{}') from destination_secrets s
        where s.destination_id = d.id
      ) as secrets
    from destinations d`;
}

function webhookSettings(row: SettingsRow): AnySettings {
  const sealed: SealedSettings = {
    id: row.id,
    secrets: new Map(Object.entries(row.secrets)),
    signingSecret: row.signing_secret,
    previousSigningSecret: row.signing_secret_previous,
    proxy: row.proxy,
    proxyPassword: row.proxy_password,
    version: `${row.version}.${row.secrets_version}`,
  };
  return { sealed, events: row.events, template: row.template };
}
