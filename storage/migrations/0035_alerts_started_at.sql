-- The earliest startsAt of the Alerts of a group, by their senders' clocks; null until the group changes next.
alter table alert_groups add column alerts_started_at bigint;
