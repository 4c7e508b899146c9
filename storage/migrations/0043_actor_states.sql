-- How many actors are in each state of their machine: the sum of what commits appended. No row is ever updated, so that
-- no commit waits for another one; the Leader replaces many rows by their sum.
create table actor_states (
  kind   text   not null,
  -- As XState writes it; `null` before the machine has begun.
  state  jsonb  not null,
  change bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

insert into actor_states (kind, state, change)
select kind, coalesce(snapshot -> 'snapshot' -> 'value', snapshot -> 'value', 'null'), count(*)
from actors
group by 1, 2;
