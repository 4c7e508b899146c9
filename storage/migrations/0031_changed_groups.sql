-- Which Alert Groups every transaction touched, for readers that keep open and recent groups in memory: they read what
-- changed since they looked last. The server writes it, so that no statement that changes groups can forget to. Rows are
-- removed after some minutes; a reader that is further behind reads all groups anew.
create table changed_alert_groups (
  xid xid8 not null,
  number bigint not null
);
create index changed_alert_groups_xid on changed_alert_groups (xid);

create function note_changed_alert_groups() returns trigger language plpgsql as $$
begin
  insert into changed_alert_groups (xid, number) select pg_current_xact_id(), number from changed;
  return null;
end
$$;

create trigger note_inserted after insert on alert_groups
  referencing new table as changed for each statement execute function note_changed_alert_groups();
create trigger note_updated after update on alert_groups
  referencing new table as changed for each statement execute function note_changed_alert_groups();
create trigger note_deleted after delete on alert_groups
  referencing old table as changed for each statement execute function note_changed_alert_groups();
