-- earlier form: b51f11cb53928741cf7899699b4f8c8e1d31102d005aa73180178dd88e3634bc
-- Account links: whose account of a messenger is whose, and how it became so.

-- step: in one transaction
create table account_links (
  id            text   primary key,
  messenger     text   not null check (messenger in ('chat_server', 'channel_bot', 'bridge')),
  -- Where ids of accounts mean the same: the id of the Connection, or `channel_bot` for all of those together.
  space         text   not null,
  external_id   text   not null,
  user_id       text   not null references users (id),
  -- Through which it was made; null once that is deleted and the link lives on.
  connection_id text   references connections (id),
  -- As the messenger told them last.
  username      text,
  display_name  text,
  last_used_at  bigint,
  created_at    bigint not null
);

create unique index account_links_account on account_links (space, external_id);
create unique index account_links_of_user on account_links (user_id, space);
create index account_links_of_connection on account_links (connection_id);

-- Links that were begun on the web and wait for a proof. Of its token or code only the SHA-256 is here.
create table account_link_requests (
  id            text    primary key,
  user_id       text    not null references users (id),
  connection_id text    not null references connections (id),
  method        text    not null check (method in ('token', 'code')),
  digest        bytea   not null,
  state         text    not null check (state in ('open', 'used', 'void')),
  -- Of a code: the account that it was sent to.
  external_id   text,
  username      text,
  display_name  text,
  attempts      integer not null default 0,
  -- False: the code could not be sent, so that it does not use up the hourly number.
  is_counted    boolean not null default true,
  created_at    bigint  not null,
  expires_at    bigint  not null,
  check ((method = 'code') = (external_id is not null))
);

create unique index account_link_requests_token on account_link_requests (digest) where method = 'token';
-- What is counted in an hour, and what is open.
create index account_link_requests_of_user on account_link_requests (user_id, created_at);
create index account_link_requests_of_account on account_link_requests (connection_id, external_id, created_at)
  where method = 'code';
create index account_link_requests_old on account_link_requests (expires_at);

-- Tokens that led to nothing, each for an hour: after some of them an account of a messenger is answered no more.
create table account_link_bad_tokens (
  space       text   not null,
  external_id text   not null,
  at          bigint not null
);

create index account_link_bad_tokens_of_account on account_link_bad_tokens (space, external_id, at);
create index account_link_bad_tokens_old on account_link_bad_tokens (at);

-- Id of the master key that signed the buttons of a message; null when it has none.
alter table deliveries add column signed_with text;

-- step: outside a transaction
create index concurrently deliveries_signed on deliveries (signed_with) where signed_with is not null and is_open;
