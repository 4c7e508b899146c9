-- Master keys: replicas hear of another active key, and a wiped Secret keeps its place.

-- Null after all master keys were lost: the name stays, and whatever reads it stands still until it is entered again.
alter table destination_secrets alter column value drop not null;

alter table configuration_versions add column keyring bigint not null default 1;

create constraint trigger in_keyring after insert or update of active_key_id on keyring
  deferrable initially deferred for each row execute function configuration_changed('keyring');
