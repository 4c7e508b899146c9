-- Alert Groups as lists and pages show them, their Alerts, their Timeline and their Notes.

create table alert_groups (
  id                    text     primary key,
  number                bigint   not null,
  title                 text     not null,
  summary               text,
  status                text     not null check (status in ('firing', 'acknowledged', 'snoozed', 'resolved')),
  -- The present Route; moved_from_route_id is the one whose key made the group, once it was moved away from it.
  route_id              text     not null,
  original_route_id     text     not null,
  moved_from_route_id   text,
  key_hash              text     not null,
  group_labels          jsonb    not null,
  common_labels         jsonb    not null,
  common_annotations    jsonb    not null,
  integration_ids       text[]   not null,
  severity_level        text     not null check (severity_level in ('critical', 'warning', 'info')),
  owner_id              text,
  snoozed_by            jsonb,
  -- Null while snoozed: without end.
  snooze_until          bigint,
  started_at            bigint   not null,
  resolved_at           bigint,
  last_changed_at       bigint   not null,
  resolved_by           text     check (resolved_by in ('user', 'system')),
  resolver              jsonb,
  resolve_reason        text     check (resolve_reason in ('resolved', 'gone', 'stale', 'integration_deleted')),
  resolve_reason_text   text,
  reopen_count          integer  not null,
  firing_alert_count    integer  not null,
  resolved_alert_count  integer  not null,
  unclaimed             boolean  not null,
  delivery_problem      boolean  not null,
  in_grace              boolean  not null,
  first_acknowledged_at bigint,
  first_published_at    bigint,
  firing_again_after    bigint,
  replaced_label        text,
  runbook_url           text,
  dashboard_url         text,
  source_url            text,
  details_removed       boolean  not null default false,
  check ((status = 'resolved') = (resolved_at is not null)),
  check ((status = 'resolved') = (resolved_by is not null)),
  check ((status = 'acknowledged') = (owner_id is not null)),
  check ((status = 'snoozed') = (snoozed_by is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create unique index alert_groups_number on alert_groups (number);

-- At most one open Alert Group a Route and key, moved ones not counted.
create unique index alert_groups_open_slot on alert_groups (original_route_id, key_hash)
  where status <> 'resolved' and moved_from_route_id is null;

-- The default list and its counts: open groups, newest first. There is no index on last_changed_at: every event moves
-- it, and an update that touches no indexed column stays within its page (HOT). Lists by it sort what they found.
create index alert_groups_open on alert_groups (started_at desc, number desc) where status <> 'resolved';
create index alert_groups_started on alert_groups (started_at desc, number desc);
-- Resolved ones by the range of time in which they lived.
create index alert_groups_resolved on alert_groups (resolved_at desc) where status = 'resolved';
-- Groups of one Route and key, newest first.
create index alert_groups_slot on alert_groups (original_route_id, key_hash, number desc);
create index alert_groups_route on alert_groups (route_id) where status <> 'resolved';
create index alert_groups_owner on alert_groups (owner_id) where owner_id is not null;
create index alert_groups_labels on alert_groups using gin (common_labels jsonb_path_ops);

-- Substring search; without the extension a search reads the rows of its range.
do $$
begin
  if exists (select from pg_available_extensions where name = 'pg_trgm') then
    begin
      create extension if not exists pg_trgm;
    exception when insufficient_privilege then
      raise notice 'pg_trgm is not installed: text search works without an index';
    end;
  end if;
  if exists (select from pg_extension where extname = 'pg_trgm') then
    create index alert_groups_text on alert_groups using gin ((title || ' ' || coalesce(summary, '')) gin_trgm_ops);
  end if;
end
$$;

-- The Alerts of each group, one row an Alert and group.
create table group_alerts (
  group_id       text     not null,
  integration_id text     not null,
  fingerprint    text     not null,
  -- Order in which Alerts came to the group.
  position       integer  not null,
  state          text     not null check (state in ('firing', 'resolved')),
  route_id       text     not null,
  labels         jsonb    not null,
  annotations    jsonb    not null,
  generator_url  text,
  severity_level text     not null check (severity_level in ('critical', 'warning', 'info')),
  severity_raw   text,
  label_conflicts text[]  not null,
  starts_at      bigint   not null,
  ended_start    bigint,
  continued_at   bigint,
  last_seen_at   bigint   not null,
  resolved_at    bigint,
  resolved_by    text     check (resolved_by in ('own_entry', 'group_wide', 'gone', 'stale', 'integration_deleted', 'moved')),
  -- The group that took a tail over.
  moved_to       text,
  -- What each feed says of the present firing, by feed key.
  feeds          jsonb    not null,
  sender_groups  text[]   not null,
  primary key (group_id, integration_id, fingerprint),
  check ((state = 'resolved') = (resolved_at is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- An Alert fires in one Alert Group at most.
create unique index group_alerts_firing on group_alerts (integration_id, fingerprint) where state = 'firing';
-- Where an Alert is known.
create index group_alerts_alert on group_alerts (integration_id, fingerprint);

-- Lifecycle and delivery entries. Partitioned by month of `at` (µs); Notes have a table of their own.
create table timeline_entries (
  at       bigint   not null,
  -- The sequence of a lifecycle entry; delivery entries come after those of the same instant.
  place    bigint   not null,
  id       text     not null,
  group_id text     not null,
  kind     text     not null,
  entry    jsonb    not null
) partition by range (at);

create index timeline_entries_group on timeline_entries (group_id, at, place, id);

-- Kept as long as the group itself.
create table notes (
  id       text   primary key,
  group_id text   not null,
  at       bigint not null,
  place    bigint not null,
  entry    jsonb  not null
);

create index notes_group on notes (group_id, at, place, id);
