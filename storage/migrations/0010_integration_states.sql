-- What the actor of each Integration knows: its Heartbeat, learned repeats, groups whose lists are cut; and what the
-- stale check reads.

-- One row an Integration, written by its actor. configuration_version is the version of the Integration that the actor
-- was told last: a higher one in integrations is told again.
create table integration_states (
  integration_id        text    primary key,
  configuration_version bigint  not null,
  lost_since            bigint,
  truncated_since       bigint,
  truncated_groups      integer not null
) with (fillfactor = 50);

-- Repeats of each sender route: the last gaps between windows, oldest first, and their median. µs. Route paths may be
-- too long for an index, hence the hash.
create table learned_routes (
  integration_id  text     not null,
  path_hash       text     not null,
  route_path      text     not null,
  samples         bigint[] not null,
  repeat_interval bigint   not null,
  heard_at        bigint   not null,
  primary key (integration_id, path_hash)
) with (fillfactor = 70);

-- Feeds whose sender cuts their lists, and since when.
create table truncated_feeds (
  integration_id text   not null,
  feed           text   not null,
  route_path     text,
  since          bigint not null,
  primary key (integration_id, feed)
);

-- The groupKey before its last colon outside braces and quotes. Null when it is too long to be learned from. Never
-- changes, so that moving last_received_at stays a HOT update.
alter table feeds add column route_path text;
update feeds
set route_path = coalesce(
  substring(group_key from '^((?:[^{}"]|"(?:\\.|[^"\\])*"|\{(?:[^{}"]|"(?:\\.|[^"\\])*")*\})*):'),
  group_key
)
where length(group_key) <= 4096;

-- Of a presence that is missed: when it was listed last, at the latest. Null in rows of the previous release.
alter table presences add column listed_at bigint;

-- Snapshots that wait a second time. One that was processed before changes nothing but resolutions; one that was counted
-- before is not counted again.
alter table snapshot_queue
  add column replay_of_processed boolean not null default false,
  add column is_replay           boolean not null default false;

-- When nothing was left to do after a deletion: from then on even Snapshots from before it are refused.
alter table integrations add column ended_at bigint;

create constraint trigger heartbeat_in_directory after update of
  heartbeat_enabled, heartbeat_timeout_seconds, ended_at on integrations
  deferrable initially deferred for each row execute function configuration_changed('directory');
