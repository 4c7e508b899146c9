-- Routes, Integrations and their tokens: configuration that the Directory shows to every turn.

create table routes (
  id text primary key,
  version bigint not null,
  -- Place among the Routes that are neither deleted nor the Default; gaps mean nothing.
  position integer not null,
  is_default boolean not null,
  name text not null,
  description text not null,
  matchers jsonb not null,
  urgent boolean not null,
  group_key jsonb not null,
  destination_ids jsonb not null,
  policy jsonb not null,
  created_at bigint not null,
  deleted_at bigint
);
create unique index routes_live_name on routes (name) where deleted_at is null;
create unique index routes_single_default on routes (is_default) where is_default;

-- Version of the evaluation order. Whatever changes the order locks this row first.
create table route_order (
  singleton boolean primary key default true check (singleton),
  version bigint not null
);
insert into route_order (version) values (1);

create table integrations (
  id text primary key,
  version bigint not null,
  builtin boolean not null,
  name text not null,
  description text not null,
  static_labels jsonb not null,
  duplicate_window_seconds integer not null,
  heartbeat_enabled boolean not null,
  heartbeat_timeout_seconds integer not null,
  last_signal_at bigint,
  created_at bigint not null,
  deleted_at bigint
);
create unique index integrations_live_name on integrations (name) where deleted_at is null;
create unique index integrations_single_builtin on integrations (builtin) where builtin;

create table integration_tokens (
  id text primary key,
  integration_id text not null references integrations (id),
  name text,
  -- SHA-256 of the whole value; the value itself is kept nowhere.
  hash bytea not null,
  created_at bigint not null,
  last_used_at bigint,
  revoked_at bigint
);
create unique index integration_tokens_hash on integration_tokens (hash);
create index integration_tokens_of on integration_tokens (integration_id, created_at) where revoked_at is null;

-- Raised with every Snapshot; apart from the configuration, so that counting never waits for a save.
create table integration_counters (
  integration_id text primary key,
  snapshot_count bigint not null default 0,
  last_snapshot_at bigint
);
