-- Storms of Routes, and who hid which suggestion of a Route.

-- The last Storm of each Route, written by the Route's actor. A Storm that ended stays until the next one begins.
create table route_storms (
  route_id          text    primary key,
  since             bigint  not null,
  alert_group_count integer not null,
  urgent_count      integer not null,
  ended_at          bigint
) with (fillfactor = 50);

-- Alert Groups whose Publication a Storm holds back; gone once their groups were told otherwise.
create table storm_alert_groups (
  alert_group_id text   primary key,
  route_id       text   not null,
  -- Start of the Storm.
  since          bigint not null,
  number         bigint not null
);

-- Those of one Storm, in order of #N.
create index storm_alert_groups_of on storm_alert_groups (route_id, since, number);

create table route_suggestion_dismissals (
  user_id       text   not null,
  suggestion_id text   not null,
  dismissed_at  bigint not null,
  primary key (user_id, suggestion_id)
);
