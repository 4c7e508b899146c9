/** Reads Connections as configuration shows them, and the sealed settings that calls through them need. */
import type { BridgeInfo, BridgeSettings, StoredConnection } from '../../actors/connection/ports.ts';
import type { Limiter } from '../../actors/destination/pacing.ts';
import type { BridgeTarget } from '../../actors/destination/sending/scene.ts';
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
  readonly address: string;
  readonly access: number;
  readonly event_mode: 'poll' | 'push';
  readonly limiter: Limiter;
  readonly proxy: ProxyFields;
  readonly created_at: Micros;
  readonly bridge_token: Sealed | null;
  readonly bridge_token_at: Micros | null;
  readonly bridge_push_secret: Sealed | null;
  readonly bridge_push_secret_at: Micros | null;
  readonly proxy_password: Sealed | null;
  readonly proxy_password_at: Micros | null;
  readonly info: BridgeInfo | null;
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
      (select count(*)::int from account_links l where l.connection_id = c.id) as account_link_count
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
  return {
    id: row.id,
    version: row.version,
    type: 'bridge',
    fields: {
      name: row.name,
      base_url: row.address,
      event_mode: row.event_mode,
      limiter: row.limiter,
      proxy: row.proxy,
    },
    tokenAt: row.bridge_token_at,
    pushSecretAt: row.bridge_push_secret_at,
    proxyPasswordAt: row.proxy_password_at,
    info: row.info,
    infoAt: row.info_at,
    infoWrong: row.info_wrong,
    tokenless: row.tokenless,
    inbound: { lastAt: row.inbound_last_at, error: row.inbound_error, since: row.inbound_since },
    destinationCount: row.destination_count,
    accountLinkCount: row.account_link_count,
    createdAt: row.created_at,
  };
}

/** Every live bridge Connection by name: what it shows, and what calls through it are made of. */
export async function readBridges(
  sql: Sql | Transaction,
): Promise<readonly { readonly stored: StoredConnection; readonly settings: BridgeSettings }[]> {
  const rows = await sql<ConnectionRow[]>`
    ${selectConnections(sql)} where c.type = 'bridge' and c.deleted_at is null order by c.name`;
  return rows.map((row) => ({ stored: storedConnection(row), settings: bridgeSettings(row) }));
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
    eventMode: row.event_mode,
    token: row.bridge_token,
    pushSecret: row.bridge_push_secret,
    proxy: row.proxy,
    proxyPassword: row.proxy_password,
    info: row.info,
    infoReadAt: row.info_at,
    infoFailedAt: row.info_failed_at,
  };
}

/** Connections whose bridges are polled: each is told to go on where it lives now. */
export async function polledConnections(sql: Sql): Promise<readonly PublicId[]> {
  const rows = await sql<{ id: PublicId }[]>`
    select id from connections where event_mode = 'poll' and deleted_at is null`;
  return rows.map((row) => row.id);
}

/** Bounds what nobody forgets: the age of an Info, and a Destination that moved to another replica and back. */
const KEPT_FOR: Micros = SECOND;

/** Destinations. */
const MOST_KEPT = 1_000;

export interface BridgeTargets {
  read(destinationId: PublicId, target: number | null): Promise<BridgeTarget | null>;
  /** Something of the Destination, its Connection or the bridge's Info changed: the next read asks the database. */
  forget(destinationId: PublicId): void;
}

interface Kept {
  readonly found: Promise<BridgeTarget | null>;
  readonly until: Micros;
}

/** Keeps what it read for a moment: many messages go to one channel together. */
export function createBridgeTargets(sql: Sql, clock: Pick<Clock, 'now'>): BridgeTargets {
  const held = new Map<PublicId, Map<number | null, Kept>>();

  const targetsOf = (destinationId: PublicId): Map<number | null, Kept> => {
    const known = held.get(destinationId);
    if (known) return known;
    const [oldest] = held.keys();
    if (held.size >= MOST_KEPT && oldest !== undefined) held.delete(oldest);
    const targets = new Map<number | null, Kept>();
    held.set(destinationId, targets);
    return targets;
  };

  return {
    read(destinationId, target) {
      const targets = targetsOf(destinationId);
      const known = targets.get(target);
      if (known && clock.now() < known.until) return known.found;
      const found = readTarget(sql, destinationId, target);
      targets.set(target, { found, until: clock.now() + KEPT_FOR });
      found.catch(() => {
        if (targets.get(target)?.found === found) targets.delete(target);
      });
      return found;
    },
    forget: (destinationId) => void held.delete(destinationId),
  };
}

/** Of a deleted Destination as well: its messages still get their last edit. Null once the Connection is deleted. */
async function readTarget(
  sql: Sql,
  destinationId: PublicId,
  target: number | null,
): Promise<BridgeTarget | null> {
  // indexes: destinations_pkey, destination_targets_pkey
  const [place] = await sql<{ connection_id: PublicId; channel_id: string }[]>`
    select connection_id, channel_id from destinations
    where id = ${destinationId} and (target = ${target} or ${target}::integer is null)
    union all
    select connection_id, channel_id from destination_targets
    where destination_id = ${destinationId} and target = ${target}
    limit 1`;
  if (!place) return null;
  const connection = await readBridgeSettings(sql, place.connection_id);
  return connection && { channelId: place.channel_id, connection };
}

/** Deleted ones included. */
export async function readDestinationType(sql: Sql, id: PublicId): Promise<DestinationConfig['type'] | null> {
  const [row] = await sql<{ type: DestinationConfig['type'] }[]>`
    select type from destinations where id = ${id}`;
  return row?.type ?? null;
}
