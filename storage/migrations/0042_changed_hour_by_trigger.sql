-- 0029 made changed_hour a generated column at first, which had the table written anew. Its trigger fills the column now.
alter table alert_groups alter column changed_hour drop expression if exists;

create or replace function fill_changed_hour() returns trigger language plpgsql as $$
begin
  new.changed_hour := new.last_changed_at / 3600000000;
  return new;
end
$$;

create or replace trigger fill_changed_hour before insert or update of last_changed_at on alert_groups
  for each row execute function fill_changed_hour();
