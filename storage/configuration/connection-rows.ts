/** Reads Connections as configuration shows them, and the sealed settings that calls through them need. */
import type {
  BridgeInfo,
  BridgeSettings,
  ChannelBotInfo,
  ChannelBotSettings,
  ChatServerInfo,
  ChatServerSettings,
  ConnectionFields,
  StoredBridge,
  StoredChannelBot,
  StoredConnection,
} from '../../actors/connection/ports.ts';
import type { Limiter } from '../../actors/destination/limiter.ts';
import type {
  BridgeTarget,
  ChannelBotTarget,
  ChatServerTarget,
} from '../../actors/destination/sending/scene.ts';
import type { DestinationConfig } from '../../actors/directory.ts';
import type { ProxyFields } from '../../actors/proxy-config.ts';
import { type Clock, type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Sealed } from '../../runtime/secrets/keyring.ts';
import type { Sql, Transaction } from '../postgres/records.ts';

export interface ConnectionRow {
  readonly id: PublicId;
  readonly version: number;
  readonly name: string;
  readonly type: ConnectionFields['type'];
  readonly address: string;
  readonly access: number;
  readonly event_mode: 'poll' | 'push' | null;
  readonly update_mode: 'long_polling' | 'webhook' | null;
  readonly webhook_secret: Sealed | null;
  readonly webhook_url: string | null;
  readonly webhook_blocks: boolean;
  readonly is_used_twice: boolean;
  readonly limiter: Limiter;
  readonly proxy: ProxyFields;
  readonly created_at: Micros;
  readonly bridge_token: Sealed | null;
  readonly bridge_token_at: Micros | null;
  readonly bridge_push_secret: Sealed | null;
  readonly bridge_push_secret_at: Micros | null;
  readonly proxy_password: Sealed | null;
  readonly proxy_password_at: Micros | null;
  /** As its type has it. */
  readonly info: unknown;
  readonly info_at: Micros | null;
  readonly info_failed_at: Micros | null;
  readonly info_wrong: string | null;
  readonly tokenless: boolean;
  readonly inbound_last_at: Micros | null;
  readonly inbound_error: string | null;
  readonly inbound_since: Micros | null;
  readonly destination_count: number;
  readonly account_link_count: number;
}

/** Live Connections with the number of Destinations that use each, and of people who linked accounts through it. */
export function selectConnections(sql: Sql | Transaction) {
  // index: destinations_of_connection, account_links_of_connection
  return sql`
    select
      c.*,
      (select count(*)::int from destinations d where d.connection_id = c.id and d.deleted_at is null)
        as destination_count,
      (select count(*)::int from account_links l where l.connection_id = c.id) as account_link_count,
      c.type = 'channel_bot' and exists (
        select from connections other
        where other.type = c.type and other.id <> c.id and other.deleted_at is null
          and other.info ->> 'bot_id' = c.info ->> 'bot_id'
      ) as is_used_twice
    from connections c`;
}

export async function readConnection(sql: Sql | Transaction, id: PublicId): Promise<ConnectionRow | null> {
  const [row] = await sql<ConnectionRow[]>`
    ${selectConnections(sql)} where c.id = ${id} and c.deleted_at is null`;
  return row ?? null;
}

/** The same, held against other changes until the transaction ends. */
export async function lockConnection(tx: Transaction, id: PublicId): Promise<ConnectionRow | null> {
  await tx`select 1 from connections where id = ${id} for update`;
  return readConnection(tx, id);
}

export function storedConnection(row: ConnectionRow): StoredConnection {
  switch (row.type) {
    case 'bridge':
      return storedBridge(row);
    case 'chat_server': {
      const fields = { type: row.type, ...commonFields(row), server_url: row.address };
      return { ...factsOf(row), fields, info: row.info as ChatServerInfo | null };
    }
    case 'channel_bot':
      return storedChannelBot(row);
  }
}

function storedBridge(row: ConnectionRow): StoredBridge {
  const own = { base_url: row.address, event_mode: modeOf(row) };
  const fields = { type: 'bridge', ...commonFields(row), ...own } as const;
  return { ...factsOf(row), fields, info: row.info as BridgeInfo | null };
}

function storedChannelBot(row: ConnectionRow): StoredChannelBot {
  const own = { bot_api_base_url: row.address, update_mode: row.update_mode ?? 'long_polling' };
  return {
    ...factsOf(row),
    fields: { type: 'channel_bot', ...commonFields(row), ...own },
    info: row.info as ChannelBotInfo | null,
    webhookUrl: row.webhook_url,
    webhookBlocks: row.webhook_blocks,
    isUsedTwice: row.is_used_twice,
  };
}

function commonFields({ name, limiter, proxy }: ConnectionRow) {
  return { name, limiter, proxy };
}

function factsOf(row: ConnectionRow) {
  return {
    id: row.id,
    version: row.version,
    tokenAt: row.bridge_token_at,
    pushSecretAt: row.bridge_push_secret_at,
    proxyPasswordAt: row.proxy_password_at,
    infoAt: row.info_at,
    infoWrong: row.info_wrong,
    tokenless: row.tokenless,
    inbound: { lastAt: row.inbound_last_at, error: row.inbound_error, since: row.inbound_since },
    destinationCount: row.destination_count,
    accountLinkCount: row.account_link_count,
    createdAt: row.created_at,
  };
}

/** The columns that hold what a type has of its own. */
export function ownColumns(
  fields: ConnectionFields,
): Pick<ConnectionRow, 'type' | 'address' | 'event_mode' | 'update_mode'> {
  const { type } = fields;
  switch (type) {
    case 'bridge':
      return { type, address: fields.base_url, event_mode: fields.event_mode, update_mode: null };
    case 'chat_server':
      return { type, address: fields.server_url, event_mode: null, update_mode: null };
    case 'channel_bot':
      return { type, address: fields.bot_api_base_url, event_mode: null, update_mode: fields.update_mode };
  }
}

function modeOf({ id, event_mode: mode }: ConnectionRow): 'poll' | 'push' {
  if (mode === null) throw new Error(`the bridge Connection ${id} has no event mode`);
  return mode;
}

/** What the way to the other side of any Connection is made of, secrets sealed. */
export interface SealedWay {
  readonly address: string;
  readonly token: Sealed | null;
  readonly proxy: ProxyFields;
  readonly proxyPassword: Sealed | null;
}

/** Every live Connection by name: what it shows, and what calls through it are made of. */
export async function readConnections(
  sql: Sql | Transaction,
): Promise<readonly { readonly stored: StoredConnection; readonly way: SealedWay }[]> {
  const rows = await sql<ConnectionRow[]>`
    ${selectConnections(sql)} where c.deleted_at is null order by c.name`;
  return rows.map((row) => {
    const { address, bridge_token: token, proxy, proxy_password: proxyPassword } = row;
    return { stored: storedConnection(row), way: { address, token, proxy, proxyPassword } };
  });
}

/** What calls through a live bridge Connection are made of; null for any other. */
export async function readBridgeSettings(sql: Sql, id: PublicId): Promise<BridgeSettings | null> {
  const [row] = await sql<ConnectionRow[]>`
    select * from connections where id = ${id} and type = 'bridge' and deleted_at is null`;
  return row ? bridgeSettings(row) : null;
}

function bridgeSettings(row: ConnectionRow): BridgeSettings {
  return {
    id: row.id,
    access: row.access,
    baseUrl: row.address,
    eventMode: modeOf(row),
    token: row.bridge_token,
    pushSecret: row.bridge_push_secret,
    proxy: row.proxy,
    proxyPassword: row.proxy_password,
    info: row.info as BridgeInfo | null,
    infoReadAt: row.info_at,
    infoFailedAt: row.info_failed_at,
  };
}

/** What calls through a live chat server Connection are made of; null for any other. */
export async function readChatServerSettings(sql: Sql, id: PublicId): Promise<ChatServerSettings | null> {
  const [row] = await sql<(Omit<ConnectionRow, 'info'> & { readonly info: ChatServerInfo | null })[]>`
    select * from connections where id = ${id} and type = 'chat_server' and deleted_at is null`;
  return row
    ? {
        ...{ id: row.id, access: row.access, serverUrl: row.address, token: row.bridge_token },
        ...{ proxy: row.proxy, proxyPassword: row.proxy_password, info: row.info, infoReadAt: row.info_at },
      }
    : null;
}

/** What calls through a live channel bot Connection are made of; null for any other. */
export async function readChannelBotSettings(sql: Sql, id: PublicId): Promise<ChannelBotSettings | null> {
  const [row] = await sql<ConnectionRow[]>`
    select * from connections where id = ${id} and type = 'channel_bot' and deleted_at is null`;
  return row ? channelBotSettings(row) : null;
}

function channelBotSettings(row: ConnectionRow): ChannelBotSettings {
  return {
    ...{ id: row.id, access: row.access, baseUrl: row.address, token: row.bridge_token },
    ...{
      updateMode: row.update_mode ?? 'long_polling',
      webhookSecret: row.webhook_secret,
      webhookUrl: row.webhook_url,
    },
    ...{ webhookBlocks: row.webhook_blocks, proxy: row.proxy, proxyPassword: row.proxy_password },
    info: row.info as ChannelBotInfo | null,
  };
}

/** A save marks the webhook as lost until it is stored: longer than one takes. */
const SAVED_WITHIN: Micros = 30 * SECOND;

/** Live channel bots in webhook mode whose messenger knows no webhook of theirs, or one at another address. */
export async function webhooksNotSet(
  sql: Sql,
  ingestUrl: string,
  now: Micros,
): Promise<readonly ChannelBotSettings[]> {
  const callbacks = `${ingestUrl}/api/v1/callbacks/channel-bot/`;
  const rows = await sql<ConnectionRow[]>`
    select * from connections
    where type = 'channel_bot' and update_mode = 'webhook' and deleted_at is null
      and (webhook_secret is null or webhook_url is distinct from ${callbacks} || id)
      and (webhook_secret is not null or coalesce(webhook_secret_at, 0) <= ${now - SAVED_WITHIN})
    order by id`;
  return rows.map(channelBotSettings);
}

/** Live channel bots in webhook mode of which no check said which bot they are; a poll says it in the other mode. */
export async function unknownBots(sql: Sql): Promise<readonly ChannelBotSettings[]> {
  const rows = await sql<ConnectionRow[]>`
    select * from connections
    where type = 'channel_bot' and update_mode = 'webhook' and deleted_at is null and info is null`;
  return rows.map(channelBotSettings);
}

/** Polls find, or find no more, a webhook of somebody else. Counts only while the Connection has this access. */
export async function noteWebhookBlocks(
  sql: Sql,
  id: PublicId,
  access: number,
  blocks: boolean,
): Promise<void> {
  await sql`
    update connections set webhook_blocks = ${blocks}
    where id = ${id} and access = ${access} and deleted_at is null`;
}

/** Connections whose messengers are polled: each is told to go on where it lives now. */
export async function polledConnections(sql: Sql): Promise<readonly PublicId[]> {
  const rows = await sql<{ id: PublicId }[]>`
    select id from connections
    where (event_mode = 'poll' or update_mode = 'long_polling') and deleted_at is null`;
  return rows.map((row) => row.id);
}

/** Bounds what nobody forgets: the age of an Info, and a Destination that moved to another replica and back. */
const KEPT_FOR: Micros = SECOND;

/** Destinations. */
const MOST_KEPT = 1_000;

export interface Targets<Target> {
  read(destinationId: PublicId, target: number | null): Promise<Target | null>;
  /** Something of the Destination, its Connection or the bridge's Info changed: the next read asks the database. */
  forget(destinationId: PublicId): void;
}

interface Kept<Target> {
  readonly found: Promise<Target | null>;
  readonly until: Micros;
}

export function createBridgeTargets(sql: Sql, clock: Pick<Clock, 'now'>): Targets<BridgeTarget> {
  return keptTargets(clock, async (id, target) => {
    const place = await readPlace(sql, id, target);
    const connection = place && (await readBridgeSettings(sql, place.connection_id));
    return connection && { channelId: place.channel_id, connection };
  });
}

export function createChatServerTargets(sql: Sql, clock: Pick<Clock, 'now'>): Targets<ChatServerTarget> {
  return keptTargets(clock, async (id, target) => {
    const place = await readPlace(sql, id, target);
    const connection = place && (await readChatServerSettings(sql, place.connection_id));
    if (!connection) return null;
    const { team_id: teamId, team_path: teamPath, channel_id: channelId } = place;
    return { teamId: teamId ?? '', teamPath, channelId, connection };
  });
}

export function createChannelBotTargets(sql: Sql, clock: Pick<Clock, 'now'>): Targets<ChannelBotTarget> {
  return keptTargets(clock, async (id, target) => {
    const place = await readPlace(sql, id, target);
    const connection = place && (await readChannelBotSettings(sql, place.connection_id));
    if (!connection) return null;
    const { chat_id: channelId, chat_username: username, discussion_group_id: groupId } = place;
    const isFound = channelId !== null && groupId !== null;
    return { place: isFound ? { channelId, username, groupId } : null, connection };
  });
}

/** Keeps what it read for a moment: many messages go to one channel together. */
function keptTargets<Target>(
  clock: Pick<Clock, 'now'>,
  readTarget: (destinationId: PublicId, target: number | null) => Promise<Target | null>,
): Targets<Target> {
  const held = new Map<PublicId, Map<number | null, Kept<Target>>>();

  const targetsOf = (destinationId: PublicId): Map<number | null, Kept<Target>> => {
    const known = held.get(destinationId);
    if (known) return known;
    const [oldest] = held.keys();
    if (held.size >= MOST_KEPT && oldest !== undefined) held.delete(oldest);
    const targets = new Map<number | null, Kept<Target>>();
    held.set(destinationId, targets);
    return targets;
  };

  return {
    read(destinationId, target) {
      const targets = targetsOf(destinationId);
      const known = targets.get(target);
      if (known && clock.now() < known.until) return known.found;
      const found = readTarget(destinationId, target);
      targets.set(target, { found, until: clock.now() + KEPT_FOR });
      found.catch(() => {
        if (targets.get(target)?.found === found) targets.delete(target);
      });
      return found;
    },
    forget: (destinationId) => void held.delete(destinationId),
  };
}

interface PlaceRow {
  readonly connection_id: PublicId;
  readonly channel_id: string;
  readonly team_id: string | null;
  readonly team_path: string | null;
  readonly chat_id: string | null;
  readonly chat_username: string | null;
  readonly discussion_group_id: string | null;
}

/** Of a deleted Destination as well: its messages still get their last edit. What was found is of the present target. */
async function readPlace(sql: Sql, destinationId: PublicId, target: number | null): Promise<PlaceRow | null> {
  // indexes: destinations_pkey, destination_targets_pkey
  const [place] = await sql<PlaceRow[]>`
    select connection_id, channel_id, team_id, team_path, chat_id, chat_username, discussion_group_id
    from destinations
    where id = ${destinationId} and (target = ${target} or ${target}::integer is null)
    union all
    select connection_id, channel_id, null, null, null, null, null from destination_targets
    where destination_id = ${destinationId} and target = ${target}
    limit 1`;
  return place ?? null;
}

/** Deleted ones included. */
export async function readDestinationType(sql: Sql, id: PublicId): Promise<DestinationConfig['type'] | null> {
  const [row] = await sql<{ type: DestinationConfig['type'] }[]>`
    select type from destinations where id = ${id}`;
  return row?.type ?? null;
}
