-- What lists and statistics read.

-- Failed Snapshots of an Integration, newest first: few among very many.
create index stored_snapshots_failed on stored_snapshots (integration_id, received_at desc, seq desc)
  where processing_error is not null;

-- When an Alert that is resolved was listed last. Null while it fires, so that being seen again touches no index (HOT).
alter table group_alerts add column seen_until bigint
  generated always as (case when state = 'resolved' then last_seen_at end) stored;

-- The Alerts view of an Integration: resolved Alerts in either order.
create index group_alerts_seen on group_alerts (integration_id, seen_until, fingerprint collate "C")
  where state = 'resolved';
create index group_alerts_starts on group_alerts (integration_id, starts_at, fingerprint collate "C")
  where state = 'resolved';

-- Where an Alert is known, and whether one of its firings is the last. Takes the place of group_alerts_alert.
create index group_alerts_known on group_alerts (integration_id, fingerprint, resolved_at);
drop index group_alerts_alert;

-- The list with resolved groups in it, and with what statistics ask of a group that started. The columns beside the key
-- change with the status, which touches indexes anyway, and when a group gets its first Alert of another Integration.
drop index alert_groups_started;
create index alert_groups_started on alert_groups (started_at desc, number desc)
  include (route_id, integration_ids, first_acknowledged_at, resolved_at);

-- A replay takes a Stored Snapshot back to the queue, and settling it writes it anew. One that was processed once stays
-- so for every later replay, even when a replay of it failed.
alter table stored_snapshots add column processed_before boolean not null default false;

-- The default list with what its counts ask. These columns, too, change with the status only, or with a Route.
drop index alert_groups_open;
create index alert_groups_open on alert_groups (started_at desc, number desc) include (status, route_id, owner_id)
  where status <> 'resolved';

-- Few at any time, and looked for among very many.
create index alert_groups_snoozed on alert_groups (started_at desc, number desc) where status = 'snoozed';
create index alert_groups_undelivered on alert_groups (started_at desc, number desc) where delivery_problem;

-- Resolved groups whose details are still there, the oldest first; and what leads to a group that is removed.
create index alert_groups_detailed on alert_groups (resolved_at) where status = 'resolved' and not details_removed;
create index slots_group on slots (group_id);
