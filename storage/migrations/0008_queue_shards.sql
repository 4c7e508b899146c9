-- Accepted Snapshots in an installation of several replicas: whose they are, and numbers in the order of arrival.
-- The previous release goes on working on this schema while a rolling upgrade lasts.

-- The shard of the Snapshot's feed, set by whoever stores it; null when a single process stored it, which owns them all.
alter table snapshot_queue add column shard smallint check (shard between 0 and 255);

-- What a replica reads: the oldest Snapshots of its shards. A single process writes nothing into it. Rows of a shard
-- come and go at the end of its range, so a page of it that fills up is cleared of dead entries instead of split.
create index snapshot_queue_by_shard on snapshot_queue (shard, seq) where shard is not null;

-- One number a Snapshot, drawn by the statement that stores it. The previous release takes blocks of 10,000 from
-- snapshot_seq and gives numbers out by itself, so both draw from ranges of their own that can never meet: its last
-- block ends below where these begin. While both are running its Snapshots therefore count as the older ones. Kept by a
-- later release: dropping snapshot_seq once no release needs it.
create sequence snapshot_number as bigint minvalue 1000000000000000;
alter sequence snapshot_seq maxvalue 999999999990000;
alter table snapshot_queue alter column seq set default nextval('snapshot_number');

-- integration_counters in parts, so that commits of several replicas do not wait for each other: each connection adds to
-- a slot of its own. integration_counters keeps what was counted before and what the previous release still counts.
create table integration_counter_slots (
  integration_id   text     not null,
  slot             smallint not null,
  snapshot_count   bigint   not null,
  last_snapshot_at bigint   not null,
  primary key (integration_id, slot)
) with (fillfactor = 50);
