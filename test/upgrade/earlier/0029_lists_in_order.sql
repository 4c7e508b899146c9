-- Lists in the order in which they are asked for.

-- The hour of the last change. A list by last change reads the newest hours first and sorts within them. An index on the
-- instant itself would be moved by every event; the hour leaves an event within its page (HOT), but for the first one of an
-- hour.
alter table alert_groups add column changed_hour bigint not null
  generated always as (last_changed_at / 3600000000) stored;
create index alert_groups_open_changed on alert_groups (changed_hour desc) where status <> 'resolved';
create index alert_groups_changed on alert_groups (changed_hour desc);

-- The list of a Route, and its counts. What a Destination that joins a Route goes through by #N has an index of its own.
drop index alert_groups_route;
create index alert_groups_route on alert_groups (route_id, started_at desc, number desc) include (status)
  where status <> 'resolved';
create index alert_groups_route_numbers on alert_groups (route_id, number) where status <> 'resolved';

-- The list of an Owner. What is owned is open, so one column says both.
drop index alert_groups_owner;
create index alert_groups_owner on alert_groups (owner_id, started_at desc, number desc) where owner_id is not null;
