-- Destinations, the outbound policy, sealed values, and the events that wait for webhooks.

-- `<key id>:<base64 of nonce, ciphertext and tag>`. Every column of this type is named in runtime/secrets/sealed-fields.ts.
create domain sealed as text check (value ~ '^k-[0-9a-f]{16}:[A-Za-z0-9+/]+=*$');

-- One row: which master key encrypts and signs, and a known text under it.
create table keyring (
  "only"        boolean primary key default true check ("only"),
  active_key_id text    not null,
  canary        sealed  not null
);

create table destinations (
  id              text    primary key,
  version         integer not null,
  name            text    not null,
  type            text    not null check (type in ('webhook', 'chat_server', 'channel_bot', 'bridge')),
  mode            text    check (mode in ('events', 'template')),
  -- {url, headers: [{name, value}]} as written: templates hold references, never values.
  events          jsonb,
  mentions        jsonb   not null,
  limiter         jsonb   not null,
  -- Secrets have a version of their own.
  secrets_version integer not null,
  created_at      bigint  not null,
  deleted_at      bigint,

  signing_secret             sealed,
  signing_secret_at          bigint,
  signing_secret_previous    sealed,
  signing_secret_previous_at bigint,

  -- Written by the Destination actor only.
  broken_since         bigint,
  broken_reason        text,
  template_error       text,
  template_error_since bigint
);

create unique index destinations_live_name on destinations (name) where deleted_at is null;
create index destinations_list on destinations (created_at, id) where deleted_at is null;

create table destination_secrets (
  destination_id text   not null references destinations (id),
  name           text   not null,
  value          sealed not null,
  updated_at     bigint not null,
  primary key (destination_id, name)
);

create table organization_outbound_policy (
  "only"  boolean primary key default true check ("only"),
  version integer not null,
  policy  text    not null check (policy in ('standard', 'strict')),
  allowed jsonb   not null,
  denied  jsonb   not null
);

insert into organization_outbound_policy (version, policy, allowed, denied) values (1, 'standard', '[]', '[]');

-- One row for each lifecycle event and events-mode webhook. `finished_at` is null while it waits or is being sent;
-- everything that changes until then is in no index (HOT updates).
create table webhook_events (
  id              text    not null primary key,
  destination_id  text    not null,
  group_id        text    not null,
  sequence        integer not null,
  event           text    not null,
  urgent          boolean not null,
  occurred_at     bigint  not null,
  body            text    not null,
  state           text    not null check (state in ('waiting', 'sending', 'delivered', 'not_delivered')),
  -- Calls started so far: an outcome counts for the newest only.
  calls           integer not null default 0,
  -- Failed attempts of the present budget.
  attempts        integer not null,
  first_failed_at bigint,
  next_attempt_at bigint,
  -- next_attempt_at is what the receiver asked for.
  exact           boolean not null,
  error           text,
  updated_at      bigint  not null,
  finished_at     bigint
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- What a Destination loads: its waiting events, Urgent and oldest first.
create index webhook_events_waiting on webhook_events (destination_id, urgent desc, occurred_at, group_id)
  where finished_at is null;
-- Delivery state of an Alert Group.
create index webhook_events_of_group on webhook_events (group_id, destination_id, sequence desc);
-- Groups whose event ended badly, for an activation of their Destination.
create index webhook_events_troubled on webhook_events (destination_id, finished_at desc)
  where state = 'not_delivered';
-- Retention: rows lie in the order in which they were recorded.
create index webhook_events_recorded on webhook_events using brin (occurred_at);
