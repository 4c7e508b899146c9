/** Fills a database with Alert Groups as years of use leave them behind, by SQL: through the front door it takes hours. */
import { ORGANIZATION_DEFAULTS } from '../../actors/access/organization.ts';
import { DAY, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Fragment } from '../../storage/alert-groups/filters.ts';
import { ensurePartitions } from '../../storage/postgres/partitions.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import { PARTITIONED_TABLES } from '../../storage/postgres/retention.ts';

export interface Amounts {
  readonly open: number;
  readonly resolved: number;
  readonly routes: number;
  readonly integrations: number;
  /** Over so many days the resolved ones started. */
  readonly days: number;
}

/** Of what the Alerts are kept, days: setting retention.alert_details_days. */
const DETAILS_DAYS = 90;

/** Same amounts and instant, same rows. */
export async function seedGroups(sql: Sql, now: Micros, amounts: Amounts): Promise<void> {
  const { routes, integrations } = amounts;
  await ensurePartitions(sql, now, PARTITIONED_TABLES);
  await sql`select setseed(0.5)`;
  await sql`
    insert into organization (id, version, settings)
    values ('RG000000000001', 1, ${JSON.stringify(ORGANIZATION_DEFAULTS)}::text::jsonb)`;
  await sql`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at
    )
    select
      'RT' || lpad(n::text, 12, '0'), 1, n, false, 'Route ' || n, '', '[]', n % 10 = 0, '[]', '[]', '{}', ${now}::bigint
    from generate_series(1, ${routes}::int) as n`;
  await sql`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    select 'NT' || lpad(n::text, 12, '0'), 1, false, 'Integration ' || n, '', '{}', 45, false, 300, ${now}::bigint
    from generate_series(1, ${integrations}::int) as n`;
  await fillGroups(sql, now, amounts);
  await sql`vacuum (analyze) alert_groups`;
  await sql`vacuum (analyze) group_alerts`;
}

/** Alert Groups numbered from `first` on, the resolved ones first, and their Alerts. */
export async function fillGroups(sql: Sql, now: Micros, amounts: Amounts, first = 1): Promise<void> {
  const { open, resolved, routes, integrations, days } = amounts;
  const detailsSince = now - DETAILS_DAYS * DAY;
  await insertGroups(sql, {
    ...{ first, count: resolved, routes, integrations, detailsSince },
    startedAt: evenly(sql, now - DAY - days * DAY, now - DAY),
    status: sql`'resolved'`,
  });
  await insertGroups(sql, {
    ...{ first: first + resolved, count: open, routes, integrations, detailsSince },
    startedAt: evenly(sql, now - 30 * DAY, now),
    status: sql`(case when random() < 0.8 then 'firing' when random() < 0.75 then 'acknowledged' else 'snoozed' end)`,
  });
  await insertAlerts(sql, now, first);
}

/** Of every open Alert Group its actor and one delivered message, as large as they are. For what migrations do to both. */
export async function seedActors(sql: Sql, now: Micros): Promise<void> {
  await sql`
    insert into actors (kind, key, shard, version, schema, snapshot, updated_at)
    select
      'alert_group', id, number % 256, 3, 1,
      jsonb_build_object('snapshot', jsonb_build_object('value', status, 'context', common_labels || common_annotations)),
      ${now}::bigint
    from alert_groups where status <> 'resolved'`;
  await sql`
    insert into deliveries (
      destination_id, subject, target, group_id, route_id, number, urgent, is_open, state, possible_duplicate,
      thread_not_attached, message_url, updated_at, wanted, kept
    )
    select
      'DS' || lpad((number % 20)::text, 12, '0'), id, 0, id, route_id, number, false, true, 'delivered', false, false,
      'https://chat.example/messages/' || number, ${now}::bigint, false,
      jsonb_build_object('message', md5(id), 'hash', md5(title), 'attempts', 1)
    from alert_groups where status <> 'resolved'`;
  await sql`vacuum (analyze) actors`;
  await sql`vacuum (analyze) deliveries`;
}

type Span = (first: number, count: number) => Fragment;

/** One after the other, as #N are given and rows are written. */
function evenly(sql: Sql, from: Micros, to: Micros): Span {
  return (first, count) => sql`
    ${from}::bigint + ((n - ${first}::bigint + random()) * ${(to - from) / count}::float8)::bigint`;
}

interface Groups {
  readonly first: number;
  readonly count: number;
  readonly routes: number;
  readonly integrations: number;
  readonly startedAt: Span;
  /** Those that ended before are without details. */
  readonly detailsSince: Micros;
  readonly status: Fragment;
}

/** Durations are spread as people's are: many short ones and a long tail. */
async function insertGroups(sql: Sql, groups: Groups): Promise<void> {
  const { first, count, routes, integrations, startedAt, status, detailsSince } = groups;
  await sql`
    insert into alert_groups (
      id, number, title, summary, status, route_id, original_route_id, key_hash, group_labels, common_labels,
      common_annotations, integration_ids, severity_level, owner_id, snoozed_by, snooze_until, started_at,
      resolved_at, last_changed_at, resolved_by, resolve_reason, reopen_count, firing_alert_count,
      resolved_alert_count, unclaimed, delivery_problem, in_grace, first_acknowledged_at, first_published_at,
      details_removed
    )
    select
      'AG' || lpad(n::text, 12, '0'), n, 'Alert' || n % 2000 || ' on host-' || n % 9973,
      'Something is wrong on host-' || n % 9973 || ' in cluster ' || n % 7,
      status, route_id, route_id, md5(n::text),
      jsonb_build_object('alertname', 'Alert' || n % 2000),
      jsonb_build_object(
        'alertname', 'Alert' || n % 2000, 'host', 'host-' || n % 9973, 'cluster', 'cluster-' || n % 7,
        'namespace', 'team-' || n % 40, 'severity', severity, 'job', 'job-' || n % 300
      ),
      jsonb_build_object('summary', 'Something is wrong on host-' || n % 9973, 'runbook_url', 'https://wiki.example/' || n % 2000),
      array['NT' || lpad((1 + n % ${integrations}::int)::text, 12, '0')], severity,
      case when status = 'acknowledged' then 'SR' || lpad((n % 30)::text, 12, '0') end,
      case when status = 'snoozed' then '{"kind": "user", "id": "SR000000000001", "name": "Ann", "login": "ann"}'::jsonb end,
      case when status = 'snoozed' and n % 2 = 0 then started_at + ${40 * DAY}::bigint end,
      started_at, resolved_at, coalesce(resolved_at, started_at),
      case when resolved_at is not null then case when n % 3 = 0 then 'user' else 'system' end end,
      case when resolved_at is not null and n % 3 <> 0 then 'resolved' end,
      case when n % 20 = 0 then 1 else 0 end, case when resolved_at is null then 1 else 0 end,
      case when resolved_at is null then 0 else 1 end, n % 50 = 0, n % 500 = 0, false, acknowledged_at,
      started_at + ${2 * SECOND}::bigint, coalesce(resolved_at < ${detailsSince}::bigint, false)
    from (
      select
        drawn.*,
        case when status = 'resolved' then started_at + resolved_after end as resolved_at,
        case when status <> 'firing' and n % 5 < 3 or status = 'acknowledged'
          then started_at + (resolved_after * 0.3)::bigint end as acknowledged_at
      from (
        select
          n, 'RT' || lpad((1 + (n * 7919) % ${routes}::int)::text, 12, '0') as route_id,
          case when n % 10 = 0 then 'critical' when n % 3 = 0 then 'info' else 'warning' end as severity,
          ${startedAt(first, count)} as started_at, ${status} as status,
          (-ln(1 - random()) * ${45 * MINUTE}::bigint)::bigint + ${SECOND}::bigint as resolved_after
        from generate_series(${first}::bigint, ${first + count - 1}::bigint) as n
      ) as drawn
    ) as one`;
}

/** One Alert a group, of those whose details are kept. Sixty of them belong to a sender group that repeats itself. */
async function insertAlerts(sql: Sql, now: Micros, first: number): Promise<void> {
  await sql`
    insert into feeds (key, integration_id, group_key, last_received_at)
    select distinct
      integration_ids[1] || '.' || number % 2000, integration_ids[1], '{}:{alertname="Alert' || number % 2000 || '"}',
      ${now}::bigint - (number % 2000) * ${SECOND}::bigint
    from alert_groups where status <> 'resolved' and number >= ${first}
    on conflict do nothing`;
  await sql`
    insert into group_alerts (
      group_id, integration_id, fingerprint, position, state, route_id, labels, annotations, generator_url,
      severity_level, label_conflicts, starts_at, last_seen_at, resolved_at, resolved_by, feeds, sender_groups
    )
    select
      id, integration_ids[1], substr(md5(id), 1, 16), 0, case when status = 'resolved' then 'resolved' else 'firing' end,
      route_id, common_labels, common_annotations, 'https://prometheus.example/graph', severity_level, '{}',
      started_at, coalesce(resolved_at, started_at), resolved_at,
      case when resolved_at is not null then 'own_entry' end,
      case when status = 'resolved' then '{}'::jsonb
        else jsonb_build_object(
          integration_ids[1] || '.' || number % 2000,
          jsonb_build_object('state', 'listed', 'since', started_at, 'groupKey', '{}:{alertname="Alert' || number % 2000 || '"}')
        ) end,
      array['{}:{alertname="Alert' || number % 2000 || '"}']
    from alert_groups
    where number >= ${first} and not details_removed`;
}
