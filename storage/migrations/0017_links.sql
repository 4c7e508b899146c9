-- Lookup tables and Link rules: what the links of Alert Groups are made of.

create table lookup_tables (
  id text primary key,
  version bigint not null,
  name text not null,
  description text not null,
  -- ["column", …]
  columns jsonb not null,
  -- A row is ["key", "cell", …] with its cells in the order of the columns; rows are in the order of their keys. Nobody
  -- reads or writes less than all of them.
  entries jsonb not null,
  created_at bigint not null
);
create unique index lookup_tables_name on lookup_tables (name collate "C");

create table link_rules (
  id text primary key,
  version bigint not null,
  builtin boolean not null,
  name text not null,
  matchers jsonb not null,
  scope jsonb not null,
  url_template text not null,
  -- Names of the Lookup tables that the template reads as constants.
  reads_tables text[] not null,
  created_at bigint not null
);
create unique index link_rules_name on link_rules (name collate "C");
create unique index link_rules_single_builtin on link_rules (builtin) where builtin;

alter table configuration_versions add column links bigint not null default 1;

create constraint trigger in_links after insert or delete or update on lookup_tables
  deferrable initially deferred for each row execute function configuration_changed('links');

create constraint trigger in_links after insert or delete or update on link_rules
  deferrable initially deferred for each row execute function configuration_changed('links');
