-- Proxies of Destinations, and the Request log.

-- {enabled, type, address, username}; the password is sealed.
alter table destinations
  add column proxy             jsonb not null default '{"enabled": false, "type": null, "address": null, "username": null}',
  add column proxy_password    sealed,
  add column proxy_password_at bigint;

-- Every request to a receiver or a messenger and every callback, masked. Written once, never updated.
create table request_records (
  at                      bigint  not null,
  id                      text    not null,
  -- The Connection or the webhook Destination whose bounds it counts to; '' for a check of something not saved.
  owner_id                text    not null,
  direction               text    not null check (direction in ('outbound', 'inbound')),
  operation               text    not null,
  method                  text    not null,
  url                     text    not null,
  status                  integer,
  latency_ms              integer not null,
  via                     text    check (via in ('direct', 'proxy')),
  attempt                 integer not null,
  error_class             text,
  error_code              text,
  error                   text,
  check_kind              text,
  check_run               text,
  connection_id           text,
  destination_id          text,
  alert_group_id          text,
  -- [[name, value], …] in order.
  request_headers         jsonb   not null,
  request_body            text,
  request_body_bytes      integer,
  request_body_truncated  boolean not null,
  response_headers        jsonb,
  response_body           text,
  response_body_bytes     integer,
  response_body_truncated boolean not null,
  -- Also how one is found by its id, and why writing a batch again adds nothing.
  primary key (id, at)
) partition by range (at);

-- The list of an owner, newest first; where its bound lies.
create index request_records_owner on request_records (owner_id, at desc, id desc);
-- Of a Destination whose records count to its Connection.
create index request_records_destination on request_records (destination_id, at desc, id desc)
  where destination_id <> owner_id;
create index request_records_run on request_records (check_run, at desc, id desc) where check_run is not null;
