/** Answers what Alert Groups ask about each other before a turn. */
import { type RelatedGroups, slotKey } from '../../actors/alert-group/ports.ts';
import { alertKey } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { textArray, wordArray } from '../array-literals.ts';
import type { Sql } from '../records.ts';

export function createRelatedGroups(sql: Sql): RelatedGroups {
  return {
    // Index: alert_groups_open_slot.
    async newerOpen({ routeId, keyHash, except }) {
      const [newest] = await sql<{ id: PublicId; number: number }[]>`
        select id, number from alert_groups
        where original_route_id = ${routeId} and key_hash = ${keyHash} and id <> ${except}
          and status <> 'resolved' and moved_from_route_id is null
        order by number desc limit 1`;
      return newest ?? null;
    },
    // Index: slots_pkey.
    async slotTargets(slots) {
      const rows = await sql<{ route_id: string; key_hash: string; group_id: PublicId }[]>`
        select route_id, key_hash, group_id
        from slots join unnest(
          ${wordArray(slots.map(({ routeId }) => routeId))}::text[],
          ${wordArray(slots.map(({ keyHash }) => keyHash))}::text[]
        ) as asked (route_id, key_hash) using (route_id, key_hash)`;
      return new Map(
        rows.map((row) => [
          slotKey({ routeId: row.route_id as PublicId, keyHash: row.key_hash }),
          row.group_id,
        ]),
      );
    },
    // Index: group_alerts_firing.
    async homesOf(alertKeys) {
      const asked = alertKeys.map(splitKey);
      const rows = await sql<{ integration_id: string; fingerprint: string; group_id: PublicId }[]>`
        select a.integration_id, a.fingerprint, a.group_id
        from group_alerts a join unnest(
          ${wordArray(asked.map(([integrationId]) => integrationId))}::text[],
          ${textArray(asked.map(([, fingerprint]) => fingerprint))}::text[]
        ) as asked (integration_id, fingerprint) using (integration_id, fingerprint)
        where a.state = 'firing'`;
      return new Map(rows.map((row) => [alertKey(row.integration_id, row.fingerprint), row.group_id]));
    },
    // Index: connection_events_pkey.
    async eventHandled({ connectionId, eventId }) {
      const [row] = await sql<{ say: string | null }[]>`
        select say from connection_events where connection_id = ${connectionId} and event_id = ${eventId}`;
      return row ?? null;
    },
    // Index: feeds_pkey.
    async feedsHeardAt(feeds) {
      const rows = await sql<{ key: string; last_received_at: Micros }[]>`
        select key, last_received_at from feeds where key = any(${wordArray(feeds)}::text[])`;
      return new Map(rows.map((row) => [row.key, row.last_received_at]));
    },
  };
}

/** The Integration's id never holds a slash, the fingerprint may. */
function splitKey(key: string): [string, string] {
  const slash = key.indexOf('/');
  return [key.slice(0, slash), key.slice(slash + 1)];
}
