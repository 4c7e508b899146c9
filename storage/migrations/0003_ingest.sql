-- What senders post, and what their groups are known to list.

-- Snapshots are numbered in the order in which they are stored. A process takes a block of numbers at a time.
create sequence snapshot_seq as bigint increment by 10000;

-- Bodies by their SHA-256, once a UTC day however often they are sent. `day` counts from 1970-01-01.
create table snapshot_bodies (
  day  integer not null,
  hash bytea   not null,
  body bytea   not null,
  primary key (day, hash)
) partition by range (day);

-- Snapshots that are durable and wait to be processed; gone from here in the commit that processes them.
-- The body's day is that of received_at.
create table snapshot_queue (
  seq            bigint  primary key,
  id             text    not null,
  integration_id text    not null,
  received_at    bigint  not null,
  body_hash      bytea   not null,
  size_bytes     integer not null,
  content_type   text
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000);

-- Snapshots that were processed (processing_error is null) or failed. Written once, never updated.
create table stored_snapshots (
  received_at      bigint  not null,
  seq              bigint  not null,
  id               text    not null,
  integration_id   text    not null,
  body_hash        bytea   not null,
  size_bytes       integer not null,
  content_type     text,
  processed_at     bigint  not null,
  group_key        text,
  alert_count      integer,
  truncated_alerts integer,
  processing_error text
) partition by range (received_at);

-- The list of an Integration, newest first.
create index stored_snapshots_list on stored_snapshots (integration_id, received_at desc, seq desc);
create index stored_snapshots_id on stored_snapshots (id);

-- One row a feed: a sender's group within an Integration. Every Snapshot moves last_received_at (HOT updates).
create table feeds (
  key              text   primary key,
  integration_id   text   not null,
  group_key        text   not null,
  last_received_at bigint not null
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05);

create index feeds_of on feeds (integration_id);

-- Alerts that a feed lists or misses, with the Alert Group it last told about each.
create table presences (
  feed        text   not null,
  fingerprint text   not null,
  group_id    text   not null,
  state       text   not null check (state in ('listed', 'missed')),
  since       bigint not null,
  starts_at   bigint not null,
  digest      text   not null,
  primary key (feed, fingerprint)
) with (fillfactor = 80);

-- Which Alert Group Alerts of a Route and Group key are sent to first; it passes on what is no longer its own.
create table slots (
  route_id text not null,
  key_hash text not null,
  group_id text not null,
  primary key (route_id, key_hash)
);
