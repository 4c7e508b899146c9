/** Fills the database under a service that runs, by SQL, with what many Alert Groups leave behind in every table. */
import { fillGroups } from '../../bench/lists/seed.ts';
import { DAY, HOUR, type Micros } from '../../runtime/clock.ts';
import type { Sql } from '../../storage/postgres/records.ts';

/** Number of the first Alert Group. Those before are left to the service. */
export const FIRST = 100_001;
/** Number of the Snapshot before the first one in the queue, above those that the service draws. */
export const QUEUED_FROM = 2e15;
/** Over so many days the resolved ones started; retention removes none of them. */
const DAYS = 700;
const ROUTES = 50;
const INTEGRATIONS = 20;

export interface Places {
  readonly integration: string;
  readonly connection: string;
  /** A message Destination. */
  readonly destination: string;
  /** An open Alert Group that the service made: actors are copies of its own. */
  readonly model: string;
}

/** The Routes and Integrations of the groups. The Routes are deleted, so they receive nothing. */
export async function fillConfiguration(sql: Sql, now: Micros): Promise<void> {
  await sql`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at, deleted_at
    )
    select
      'RT' || lpad(n::text, 12, '0'), 1, 1000 + n, false, 'Route ' || n, '', '[]', false, '[]', '[]', policy,
      ${now}::bigint, ${now}::bigint
    from generate_series(1, ${ROUTES}::int) as n, (select policy from routes where is_default) as one`;
  await sql`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    select 'NT' || lpad(n::text, 12, '0'), 1, false, 'Integration ' || n, '', '{}', 45, false, 300, ${now}::bigint
    from generate_series(1, ${INTEGRATIONS}::int) as n`;
}

/** Groups number `from` up to and without `to`, a tenth of them open, and their rows elsewhere. */
export async function fill(sql: Sql, now: Micros, from: number, to: number, places: Places): Promise<void> {
  const count = to - from;
  const open = Math.floor(count / 10);
  const amounts = { open, resolved: count - open, routes: ROUTES, integrations: INTEGRATIONS, days: DAYS };
  await fillGroups(sql, now, amounts, from);
  const { destination, connection, integration, model } = places;
  const numbers = sql`generate_series(${from}::bigint, ${to - 1}::bigint) as n`;
  const groups = sql`alert_groups where number between ${from} and ${to - 1}`;
  const alertGroup = sql`'AG' || lpad(n::text, 12, '0')`;
  await sql`insert into slots (route_id, key_hash, group_id) select route_id, key_hash, id from ${groups}`;
  await sql`
    insert into presences (feed, fingerprint, group_id, state, since, starts_at, digest)
    select integration_ids[1] || '.' || number % 2000, substr(md5(id), 1, 16), id, 'listed', started_at, started_at, 'x'
    from ${groups} and status <> 'resolved'`;
  await sql`
    insert into feeds (key, integration_id, group_key, last_received_at)
    select 'NT000000000001.m' || n, 'NT000000000001', '{}:{n="' || n || '"}', ${now}::bigint from ${numbers} where n % 10 = 0`;
  await sql`
    insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
    select
      'alert_group', id, number % 256, 3, kept.schema,
      case when status = 'resolved' then '{}' else replace(replace(
        regexp_replace(kept.snapshot::text, '"number": \\d+', '"number": ' || number),
        '"keyHash": "' || (kept.snapshot -> 'slot' ->> 'keyHash') || '"', '"keyHash": "' || key_hash || '"'
      ), kept.snapshot -> 'slot' ->> 'routeId', route_id)::jsonb end,
      case when status <> 'resolved' then ${now + 40 * DAY}::bigint + number end, ${now}::bigint
    from (select * from ${groups}) as one, (select schema, snapshot from actors where key = ${model}) as kept`;
  await sql`
    insert into deliveries (
      destination_id, subject, target, group_id, route_id, number, urgent, is_open, state, possible_duplicate,
      thread_not_attached, message_url, updated_at, wanted, kept
    )
    select
      case when number % 2 = 0 then ${destination} else 'DS' || lpad((number % 20)::text, 12, '0') end, id, 1, id, route_id, number,
      false, status <> 'resolved', 'delivered', false, false, 'https://chat.example/messages/' || number, ${now}::bigint, false,
      jsonb_build_object('message', md5(id), 'hash', md5(title), 'attempts', 1)
    from ${groups} and not details_removed`;
  await sql`
    insert into delivered_messages (connection_id, message_id, destination_id, kind, group_id, is_present, posted_at)
    select ${connection}, 'm' || number, ${destination}, 'root', id, true, ${now}::bigint from ${groups} and not details_removed`;
  await sql`
    insert into webhook_events (
      id, destination_id, group_id, sequence, event, urgent, occurred_at, body, state, attempts, exact, updated_at, finished_at
    )
    select
      'msg_' || n, 'DS' || lpad((n % 20)::text, 12, '0'), ${alertGroup}, 1, 'created', false, ${now}::bigint, '', 'delivered', 0,
      false, ${now}::bigint, ${now}::bigint
    from ${numbers} where n % 4 = 0`;
  await sql`
    insert into timeline_entries (at, place, id, group_id, kind, entry)
    select ${now}::bigint + n, 1, 'TE' || lpad(n::text, 12, '0'), ${alertGroup}, kind, entry
    from ${numbers}, (select kind, entry from timeline_entries where group_id = ${model} order by at limit 1) as one`;
  await sql`
    insert into notes (id, group_id, at, place, entry)
    select 'TE' || lpad(n::text, 12, '0'), ${alertGroup}, ${now}::bigint, 2, '{}' from ${numbers} where n % 10 = 1`;
  await sql`
    insert into snapshot_bodies (day, hash, body)
    select ${Math.floor(now / DAY)}::int, sha256(n::text::bytea), repeat('x', 1000)::bytea from ${numbers} where n % 20 = 0`;
  await sql`
    insert into stored_snapshots (
      received_at, seq, id, integration_id, body_hash, size_bytes, content_type, processed_at, group_key, alert_count, truncated_alerts
    )
    select
      ${now}::bigint + n, n, 'SS' || lpad(n::text, 12, '0'),
      case when n % 2 = 0 then ${integration} else 'NT' || lpad((1 + n % 20)::text, 12, '0') end, sha256((n - n % 20)::text::bytea),
      1, 'application/json', ${now}::bigint + n, '{}', 1, 0
    from ${numbers}`;
  await sql`
    insert into request_records (
      at, id, owner_id, direction, operation, method, url, status, latency_ms, via, attempt, destination_id, connection_id,
      alert_group_id, request_headers, request_body_truncated, response_body_truncated
    )
    select
      ${now}::bigint + n, 'LR' || lpad(n::text, 12, '0'), 'DS' || lpad((n / 2000)::text, 12, '0'), 'outbound', 'post', 'POST',
      'https://chat.example/', 200, 5, 'direct', 1, 'DS' || lpad((n / 2000)::text, 12, '0'), null, ${alertGroup}, '[]', false, false
    from ${numbers} where n % 4 = 0`;
  await sql`
    insert into audit_log (id, at, actor_kind, actor_id, actor_name, action, resource_type, resource_id, diff, details, transport)
    select
      'AE' || lpad(n::text, 12, '0'), ${now}::bigint + n, 'user', 'SR' || lpad((n % 30)::text, 12, '0'), 'Ann',
      'alert_group.acknowledge', 'alert_group', ${alertGroup}, '[]', '{}', 'ui'
    from ${numbers}`;
  await sql`
    insert into storm_alert_groups (alert_group_id, route_id, since, number)
    select id, route_id, ${now - HOUR}::bigint, number from ${groups} and number % 20 = 0`;
}

/** Makes a hundred groups from number `from` on so old that retention removes half of them, and details of the others. */
export async function age(sql: Sql, now: Micros, from: number): Promise<void> {
  await sql`
    update alert_groups set
      details_removed = number % 2 = 0,
      resolved_at = ${now}::bigint - (case when number % 2 = 0 then ${735 * DAY}::bigint else ${95 * DAY}::bigint end)
    where number between ${from} and ${from + 99} and status = 'resolved'`;
  await sql`
    delete from group_alerts where group_id in (
      select id from alert_groups where number between ${from} and ${from + 99} and details_removed
    )`;
}

/** Messages, Snapshots and wake-ups that wait, for a service that is stopped. Every Snapshot has its shard. */
export async function fillQueues(sql: Sql, now: Micros, count: number): Promise<void> {
  const numbers = sql`generate_series(1, ${count}::int) as n`;
  await sql`
    insert into inbox (shard, receiver_kind, receiver_key, sender, message, created_at)
    select n % 256, 'alert_group', 'AG' || lpad(n::text, 12, '0'), 'feed/NT1', '{"type": "x"}', ${now}::bigint from ${numbers}`;
  await sql`
    insert into snapshot_queue (seq, id, integration_id, received_at, body_hash, size_bytes, shard)
    select
      ${QUEUED_FROM}::bigint + n, 'SQ' || lpad(n::text, 12, '0'), 'NT000000000001', ${now}::bigint, sha256(n::text::bytea), 1, n % 256
    from ${numbers}`;
  await sql`
    insert into actors (kind, key, shard, version, schema, snapshot, wake_at, updated_at)
    select 'queued', n, n % 256, 1, 1, '{}', ${now}::bigint - n, ${now}::bigint from ${numbers}`;
}
