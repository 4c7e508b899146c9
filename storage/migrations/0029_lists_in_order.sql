-- earlier form: 9a749371670d2454245aac60d35459542c945358d6016037559e31563d42e75b
-- Lists in the order in which they are asked for.

-- The hour of the last change. A list by last change reads the newest hours first and sorts within them. An index on the
-- instant itself would be moved by every event; the hour leaves an event within its page (HOT), but for the first one of an
-- hour. The server fills it, so that replicas of the version before do, too. A generated column would have the table
-- written anew while nobody reads it.

-- step: in one transaction
alter table alert_groups add column changed_hour bigint;

create function fill_changed_hour() returns trigger language plpgsql as $$
begin
  new.changed_hour := new.last_changed_at / 3600000000;
  return new;
end
$$;

create trigger fill_changed_hour before insert or update of last_changed_at on alert_groups
  for each row execute function fill_changed_hour();

-- In four passes, each over every fourth group: pages have room for some rows more, and what one pass left behind is
-- removed by the next. So rows stay within their page (HOT), and none of the indexes is touched.
-- step: in batches
with cursor as (
  select coalesce(split_part($1::text, ' ', 1)::integer, 0) as pass, coalesce(split_part($1, ' ', 2)::bigint, -1) as after
), batch as (
  select number from alert_groups
  where number > (select after from cursor) and number % 4 = (select pass from cursor)
  order by number limit $2::integer
), filled as (
  update alert_groups set changed_hour = last_changed_at / 3600000000
  from batch where alert_groups.number = batch.number and changed_hour is null
)
select coalesce(
  (select pass || ' ' || max(number) from batch),
  case when pass < 3 then pass + 1 || ' -1' end
) as last
from cursor;

-- Autovacuum would hold its lock on the table for minutes, and the next steps wait for theirs a moment only.
-- step: outside a transaction
vacuum (analyze, truncate false) alert_groups;

-- step: in one transaction
alter table alert_groups add constraint alert_groups_hour_filled check (changed_hour is not null) not valid;

-- step: outside a transaction
alter table alert_groups validate constraint alert_groups_hour_filled;

-- The constraint spares this reading the table.
-- step: in one transaction
alter table alert_groups alter column changed_hour set not null;
alter table alert_groups drop constraint alert_groups_hour_filled;

-- step: outside a transaction
create index concurrently alert_groups_open_changed on alert_groups (changed_hour desc) where status <> 'resolved';

-- step: outside a transaction
create index concurrently alert_groups_changed on alert_groups (changed_hour desc);

-- The list of a Route, and its counts. What a Destination that joins a Route goes through by #N has an index of its own.
-- step: outside a transaction
create index concurrently alert_groups_route_anew on alert_groups (route_id, started_at desc, number desc)
  include (status) where status <> 'resolved';

-- step: outside a transaction
create index concurrently alert_groups_route_numbers on alert_groups (route_id, number) where status <> 'resolved';

-- The list of an Owner. What is owned is open, so one column says both.
-- step: outside a transaction
create index concurrently alert_groups_owner_anew on alert_groups (owner_id, started_at desc, number desc)
  where owner_id is not null;

-- step: in one transaction
drop index alert_groups_route;
alter index alert_groups_route_anew rename to alert_groups_route;
drop index alert_groups_owner;
alter index alert_groups_owner_anew rename to alert_groups_owner;
