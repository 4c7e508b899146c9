-- How each condition that Tocsin tells of itself stands: one row an Internal alert that was ever recorded, about an
-- entity only while that exists. What was told of it is a Snapshot of the built-in Integration, stored in the same transaction.
create table internal_alerts (
  fingerprint text    primary key,
  name        text    not null,
  entity_id   text,
  raised      boolean not null,
  -- What the last raise said: its labels, the name of the entity among them, and the date its text names.
  extras      jsonb   not null,
  labels      jsonb   not null,
  date        text    not null,
  -- Start of the last firing, and receipt of the last Snapshot. Each Snapshot is later than the one before.
  since       bigint  not null,
  told_at     bigint  not null
);

create index internal_alerts_of on internal_alerts (entity_id) where entity_id is not null;

-- Alert Groups that were open at the end of a downtime are told of it in pages, the newest first: the last one that was
-- told. Null once everybody was, and for downtimes that nobody was told of.
alter table downtimes
  add column told_started_at bigint,
  add column told_number     bigint;
