-- The engine's own tables: actors, the messages between them, and who may write which shard.

-- One row an actor. Rewritten with every turn, so pages keep room for the next version of a row (HOT updates).
create table actors (
  kind       text     not null,
  key        text     not null,
  shard      smallint not null check (shard between 0 and 255),
  version    bigint   not null check (version > 0),
  schema     integer  not null,
  snapshot   jsonb    not null,
  wake_at    bigint,
  updated_at bigint   not null,
  primary key (kind, key)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Due wake-ups, earliest first, whoever owns their shards.
create index actors_wake on actors (wake_at, shard) where wake_at is not null;

-- Messages to actors of other processes: inserted by the sender's commit, deleted by the receiver's.
create table inbox (
  seq           bigint generated always as identity primary key,
  shard         smallint not null check (shard between 0 and 255),
  receiver_kind text     not null,
  receiver_key  text     not null,
  -- `kind/key` of the sending actor; null when no actor sent it.
  sender        text,
  message       jsonb    not null,
  created_at    bigint   not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- The oldest undelivered messages of a shard.
create index inbox_by_shard on inbox (shard, seq);

-- The newest epoch of every shard. Whoever commits holds its row shared; a takeover raises it and so waits for
-- commits under way and stops every later one of the old owner.
create table shards (
  shard smallint primary key check (shard between 0 and 255),
  epoch bigint   not null
) with (fillfactor = 50);

insert into shards (shard, epoch) select shard, 0 from generate_series(0, 255) as shard;

-- Numbers without gaps.
create table counters (
  name  text   primary key,
  value bigint not null
) with (fillfactor = 50);

insert into counters (name, value) values ('alert_group_number', 0);

-- Messages that an actor could not take: set aside, so that those behind them go on.
create table dead_letters (
  id            bigint generated always as identity primary key,
  at            bigint not null,
  receiver_kind text   not null,
  receiver_key  text   not null,
  sender        text,
  message       jsonb  not null,
  error         text   not null
);

create index dead_letters_by_time on dead_letters (at);
