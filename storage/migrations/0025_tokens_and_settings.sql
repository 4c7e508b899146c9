-- Service accounts, API tokens, and the secrets of the outgoing heartbeat.

create table service_accounts (
  id         text   primary key,
  version    bigint not null,
  name       text   not null,
  role       text   not null check (role in ('admin', 'responder', 'viewer')),
  -- A deleted one stays as the name in what it did.
  status     text   not null check (status in ('active', 'disabled', 'deleted')),
  created_at bigint not null
);

create unique index service_accounts_name on service_accounts (lower(name)) where status <> 'deleted';
create index service_accounts_list on service_accounts (created_at, id) where status <> 'deleted';

create table api_tokens (
  id                 text   primary key,
  -- Whose token it is: a user's, or a Service account's.
  user_id            text   references users (id),
  service_account_id text   references service_accounts (id),
  name               text   not null,
  -- What a user's token is narrowed to; a Service account's may do what its Role may.
  permissions        text[],
  -- SHA-256 of the whole value; the value itself is nowhere.
  hash               bytea  not null unique,
  created_at         bigint not null,
  expires_at         bigint,
  last_used_at       bigint,
  last_used_address  text,
  revoked_at         bigint,
  check (num_nonnulls(user_id, service_account_id) = 1),
  check ((permissions is null) = (user_id is null))
) with (fillfactor = 80);

create index api_tokens_of_user on api_tokens (user_id, created_at) where revoked_at is null;
create index api_tokens_of_account on api_tokens (service_account_id, created_at) where revoked_at is null;

alter table organization
  add column heartbeat_url               sealed,
  -- When it was set or cleared last.
  add column heartbeat_url_at            bigint,
  add column heartbeat_proxy             jsonb not null
    default '{"enabled": false, "type": null, "address": null, "username": null}',
  add column heartbeat_proxy_password    sealed,
  add column heartbeat_proxy_password_at bigint;

-- Apart from the Organization: it changes every minute, and is no configuration.
create table outgoing_heartbeat (
  singleton  boolean primary key default true check (singleton),
  -- The attempt that is under way or came last; whoever sends takes it first, so that nobody else does.
  claimed_at bigint,
  -- What came of the last attempt.
  at         bigint,
  ok         boolean,
  error      text
) with (fillfactor = 50);

insert into outgoing_heartbeat default values;
