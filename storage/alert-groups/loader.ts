/** What a turn of an Alert Group reads: its Alerts, and what it asks about other groups. */
import { ALERT_GROUP, type FeedPresence } from '../../actors/alert-group/messages.ts';
import { type RelatedGroups, slotKey } from '../../actors/alert-group/ports.ts';
import { type GroupAlert, type GroupRows, keyOf } from '../../actors/alert-group/rows.ts';
import { ANNOTATION_BOUNDS, boundStoredMap, boundStoredText, LABEL_BOUNDS } from '../../actors/feed/body.ts';
import { alertKey, type Labels, type SeverityLevel } from '../../actors/model.ts';
import type { Micros } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { textArray, wordArray } from '../postgres/bulk-parameters.ts';
import type { RowLoader, Sql } from '../postgres/records.ts';

export interface AlertRow {
  readonly group_id: PublicId;
  readonly integration_id: PublicId;
  readonly fingerprint: string;
  readonly position: number;
  readonly state: GroupAlert['state'];
  readonly route_id: PublicId;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly generator_url: string | null;
  readonly severity_level: SeverityLevel;
  readonly severity_raw: string | null;
  readonly label_conflicts: readonly string[];
  readonly starts_at: Micros;
  readonly ended_start: Micros | null;
  readonly last_seen_at: Micros;
  readonly resolved_at: Micros | null;
  readonly resolved_by: GroupAlert['resolvedBy'];
  readonly moved_to: PublicId | null;
  readonly feeds: Readonly<Record<string, FeedPresence>>;
  readonly sender_groups: readonly string[];
}

/** Index: group_alerts_pkey. The offset keeps a plan made while the table was small from reading all of it. */
export const alertRows: RowLoader = {
  kind: ALERT_GROUP,
  async load(sql, keys) {
    const rows = await sql<AlertRow[]>`
      select a.*
      from unnest(${wordArray(keys)}::text[]) as wanted (id)
      cross join lateral (select * from group_alerts where group_id = wanted.id offset 0) a
      order by a.group_id, a.position`;
    const loaded = new Map<string, GroupRows>();
    for (const row of rows) {
      const alerts = loaded.get(row.group_id) ?? new Map<string, GroupAlert>();
      loaded.set(row.group_id, alerts);
      const alert = alertOf(row);
      alerts.set(keyOf(alert), alert);
    }
    return loaded;
  },
};

/** The Alert of a row. Texts that an earlier release kept whole are cut as received ones are (ingestion §4.3). */
export function alertOf(row: AlertRow): GroupAlert {
  return {
    integrationId: row.integration_id,
    report: {
      fingerprint: row.fingerprint,
      labels: boundStoredMap(row.labels, LABEL_BOUNDS),
      annotations: boundStoredMap(row.annotations, ANNOTATION_BOUNDS),
      startsAt: row.starts_at,
      generatorUrl: row.generator_url,
      severityLevel: row.severity_level,
      severityRaw: row.severity_raw === null ? null : boundStoredText(row.severity_raw, LABEL_BOUNDS.value),
      labelConflicts: row.label_conflicts,
    },
    position: row.position,
    state: row.state,
    routeId: row.route_id,
    startsAt: row.starts_at,
    endedStart: row.ended_start,
    lastSeenAt: row.last_seen_at,
    resolvedAt: row.resolved_at,
    resolvedBy: row.resolved_by,
    movedTo: row.moved_to,
    feeds: row.feeds,
    senderGroups: row.sender_groups,
  };
}

/** Answers what Alert Groups ask about each other before a turn. */
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
    // Index: slots_pkey. The limit keeps a plan made while the table was small from reading all of it.
    async slotTargets(slots) {
      const rows = await sql<{ route_id: string; key_hash: string; group_id: PublicId }[]>`
        select s.*
        from unnest(
          ${wordArray(slots.map(({ routeId }) => routeId))}::text[],
          ${wordArray(slots.map(({ keyHash }) => keyHash))}::text[]
        ) as asked (route_id, key_hash)
        cross join lateral (
          select * from slots where route_id = asked.route_id and key_hash = asked.key_hash limit 1
        ) s`;
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
