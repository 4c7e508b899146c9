-- Several replicas: who acts for which shard, requests between replicas, and what they tell each other.

-- Who raised the epoch last, `id/boot` of a replica, and when.
alter table shards add column owner text, add column taken_at bigint;

-- A message that somebody waits for: the member that asked, under which name it knows the request, and until when the
-- answer is of use. Null for all others.
alter table inbox
  add column asked_by   text,
  add column ask_id     text,
  add column expires_at bigint;

-- Answers, written by the commit that acted on the request and deleted by the member that asked.
create table replies (
  asked_by text   not null,
  ask_id   text   not null,
  outcome  jsonb  not null,
  at       bigint not null,
  primary key (asked_by, ask_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index replies_by_time on replies (at);

-- Every run of a replica says here that it lives, every 30 s; gone with a clean stop.
create table replicas (
  id           text    not null,
  boot         text    not null,
  version      text    not null,
  revision     text    not null,
  key_ids      text[]  not null,
  is_leader    boolean not null,
  has_redis    boolean not null,
  started_at   bigint  not null,
  refreshed_at bigint  not null,
  primary key (id, boot)
);

-- What replicas tell each other while Redis is away: read every second, kept for minutes.
create table announcements (
  seq    bigint generated always as identity primary key,
  sender text   not null,
  topic  text   not null,
  body   jsonb  not null,
  at     bigint not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index announcements_by_time on announcements (at);

-- The Leader's sign of life, one row.
create table alive_mark (
  singleton boolean primary key default true check (singleton),
  at        bigint  not null,
  replica   text    not null
) with (fillfactor = 50);

-- Times during which nobody led for longer than the service tolerates.
create table downtimes (
  id            bigint generated always as identity primary key,
  started_at    bigint not null,
  ended_at      bigint not null,
  recovers_until bigint not null
);
