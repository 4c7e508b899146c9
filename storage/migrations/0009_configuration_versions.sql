-- How often each part of the configuration changed: a replica that keeps a part in memory sees by it whether what it
-- keeps is what is stored. One row, so that two transactions never wait for each other in a circle.
create table configuration_versions (
  singleton          boolean primary key default true check (singleton),
  directory          bigint  not null,
  webhooks           bigint  not null,
  integration_tokens bigint  not null,
  outbound_policy    bigint  not null
) with (fillfactor = 50);

insert into configuration_versions (directory, webhooks, integration_tokens, outbound_policy) values (1, 1, 1, 1);

create function configuration_changed() returns trigger language plpgsql as $$
begin
  execute format('update configuration_versions set %1$I = %1$I + 1', tg_argv[0]);
  return null;
end
$$;

-- Raised as the last thing before the commit: nothing else is locked after it, and it is held for that long only.
-- The columns are those that somebody keeps in memory; what turns and sign-ins write is not among them.

create constraint trigger in_directory after insert or delete or update on organization
  deferrable initially deferred for each row execute function configuration_changed('directory');

create constraint trigger in_directory after insert or delete or update of
  position, is_default, name, matchers, urgent, group_key, destination_ids, policy, deleted_at on routes
  deferrable initially deferred for each row execute function configuration_changed('directory');

create constraint trigger in_directory after insert or delete or update of
  builtin, name, static_labels, duplicate_window_seconds, deleted_at on integrations
  deferrable initially deferred for each row execute function configuration_changed('directory');

create constraint trigger in_directory after insert or delete or update of
  name, type, mode, mentions, limiter, deleted_at on destinations
  deferrable initially deferred for each row execute function configuration_changed('directory');

create constraint trigger in_directory after insert or delete or update of
  name, login, status, time_zone on users
  deferrable initially deferred for each row execute function configuration_changed('directory');

create constraint trigger in_webhooks after delete or update of
  events, signing_secret, signing_secret_previous, deleted_at on destinations
  deferrable initially deferred for each row execute function configuration_changed('webhooks');

create constraint trigger in_webhooks after insert or delete or update on destination_secrets
  deferrable initially deferred for each row execute function configuration_changed('webhooks');

create constraint trigger in_tokens after insert or delete or update of
  integration_id, hash, revoked_at on integration_tokens
  deferrable initially deferred for each row execute function configuration_changed('integration_tokens');

create constraint trigger in_tokens after delete or update of deleted_at on integrations
  deferrable initially deferred for each row execute function configuration_changed('integration_tokens');

create constraint trigger in_policy after insert or delete or update on organization_outbound_policy
  deferrable initially deferred for each row execute function configuration_changed('outbound_policy');
