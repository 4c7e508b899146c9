-- The User of the first Acknowledge. Null without one, and for groups that were acknowledged before this was kept.
alter table alert_groups add column first_acknowledged_by text;
