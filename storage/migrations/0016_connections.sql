-- Connections: the links to messengers, sealed, and the events of theirs that were handled.

create table connections (
  id         text    primary key,
  version    integer not null,
  name       text    not null,
  type       text    not null check (type in ('chat_server', 'channel_bot', 'bridge')),
  -- Of the messenger or the bridge, without a trailing slash.
  address    text    not null,
  -- Raised with every other address or token: what is known of the one before does not count for the next.
  access     integer not null,
  -- Of a bridge.
  event_mode text    check (event_mode in ('poll', 'push')),
  limiter    jsonb   not null,
  -- {enabled, type, address, username}; the password is sealed.
  proxy      jsonb   not null default '{"enabled": false, "type": null, "address": null, "username": null}',
  created_at bigint  not null,
  deleted_at bigint,

  bridge_token          sealed,
  bridge_token_at       bigint,
  bridge_push_secret    sealed,
  bridge_push_secret_at bigint,
  proxy_password        sealed,
  proxy_password_at     bigint,

  -- Written by the actor of the Connection only; a save with another address or token empties them.
  info           jsonb,
  info_at        bigint,
  info_failed_at bigint,
  info_wrong     text,
  tokenless      boolean not null default false,
  inbound_last_at bigint,
  inbound_error  text,
  inbound_since  bigint
);

create unique index connections_live_name on connections (name) where deleted_at is null;
create index connections_list on connections (created_at, id) where deleted_at is null;

alter table destinations add column connection_id text references connections (id);

create index destinations_of_connection on destinations (connection_id)
  where connection_id is not null and deleted_at is null;

-- Events of messengers, each handled once within a day. `say`: what is still to be said to the person behind it.
create table connection_events (
  connection_id text   not null,
  event_id      text   not null,
  handled_at    bigint not null,
  say           text,
  primary key (connection_id, event_id)
);

-- What an actor loads, and what is too old.
create index connection_events_handled on connection_events (connection_id, handled_at);

create constraint trigger in_directory after insert or delete or update of name, type, deleted_at on connections
  deferrable initially deferred for each row execute function configuration_changed('directory');
