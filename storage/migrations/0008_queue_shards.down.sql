drop table integration_counter_slots;
alter table snapshot_queue alter column seq drop default;
alter sequence snapshot_seq no maxvalue;
drop sequence snapshot_number;
alter table snapshot_queue drop column shard;
