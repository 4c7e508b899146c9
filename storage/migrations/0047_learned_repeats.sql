-- Repeats of each sender route: its last samples, oldest first, and the longest of them. µs. Route paths may be too long
-- for an index, hence the hash.
--
-- It takes the place of learned_routes, whose samples were single gaps, among them those of restarts, so that none is
-- taken over. learned_routes stays for replicas of the previous release; nothing else reads it.
create table learned_repeats (
  integration_id  text     not null,
  path_hash       text     not null,
  route_path      text     not null,
  samples         bigint[] not null,
  repeat_interval bigint   not null,
  heard_at        bigint   not null,
  primary key (integration_id, path_hash)
) with (fillfactor = 70);
