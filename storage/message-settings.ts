/** What calls to messengers are made of, sealed, and what Storm summaries say. */

import type { BridgeTarget, StormReader } from '../actors/destination/sending/ports.ts';
import type { DestinationConfig } from '../actors/directory.ts';
import { type Clock, type Micros, SECOND } from '../runtime/clock.ts';
import type { PublicId } from '../runtime/public-id.ts';
import { readBridgeSettings } from './connection-rows.ts';
import type { Sql } from './records.ts';

/** Long enough for a burst of messages, and short enough for a token that was just saved. */
const KEPT_FOR: Micros = SECOND;
const MOST_KEPT = 1_000;

export type BridgeTargets = (destinationId: PublicId, target: number | null) => Promise<BridgeTarget | null>;

/** Keeps what it read for a moment: many messages go to one channel together. */
export function createBridgeTargets(sql: Sql, clock: Pick<Clock, 'now'>): BridgeTargets {
  const held = new Map<string, { readonly found: Promise<BridgeTarget | null>; readonly until: Micros }>();
  return (destinationId, target) => {
    const key = `${destinationId} ${target}`;
    const known = held.get(key);
    if (known && clock.now() < known.until) return known.found;
    const found = readTarget(sql, destinationId, target);
    held.delete(key);
    held.set(key, { found, until: clock.now() + KEPT_FOR });
    const [oldest] = held.keys();
    if (held.size > MOST_KEPT && oldest !== undefined) held.delete(oldest);
    found.catch(() => {
      if (held.get(key)?.found === found) held.delete(key);
    });
    return found;
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

export function createStormReader(sql: Sql): StormReader {
  return {
    async read(routeId, since) {
      const [storm] = await sql<
        { alert_group_count: number; urgent_count: number; ended_at: Micros | null }[]
      >`
        select alert_group_count, urgent_count, ended_at from route_storms
        where route_id = ${routeId} and since = ${since}`;
      if (!storm) return null;
      const { alert_group_count: newGroups, urgent_count: urgentGroups, ended_at: endedAt } = storm;
      const stillOpen = endedAt === null ? null : await countOpen(sql, routeId, since, endedAt);
      return { newGroups, urgentGroups, stillOpen };
    },
  };
}

/** Alert Groups that began in a Storm and are open. */
async function countOpen(sql: Sql, routeId: PublicId, since: Micros, endedAt: Micros): Promise<number> {
  // index: alert_groups_open
  const [row] = await sql<{ open: number }[]>`
    select count(*)::int as open from alert_groups
    where original_route_id = ${routeId} and started_at between ${since} and ${endedAt} and status <> 'resolved'`;
  return row?.open ?? 0;
}
