-- Messages of Destinations: how each Alert Group and Storm stands there, and which messages in a messenger are ours.

alter table destinations
  -- Raised with every other Connection or channel: a message stays where it was posted.
  add column target       integer not null default 1,
  -- Of a bridge: the channel as the protocol names it, and as the messenger does.
  add column channel_id   text,
  add column channel_name text,
  -- Template mode of a webhook: its requests and extractions as written.
  add column template     jsonb;

drop trigger in_directory on destinations;
create constraint trigger in_directory after insert or delete or update of
  name, type, mode, mentions, limiter, connection_id, target, deleted_at on destinations
  deferrable initially deferred for each row execute function configuration_changed('directory');

drop trigger in_webhooks on destinations;
create constraint trigger in_webhooks after delete or update of
  events, template, channel_id, target, signing_secret, signing_secret_previous, deleted_at on destinations
  deferrable initially deferred for each row execute function configuration_changed('webhooks');

-- Where a Destination posted before it was pointed elsewhere: its messages there still get their last edit.
create table destination_targets (
  destination_id text    not null references destinations (id),
  target         integer not null,
  connection_id  text    not null,
  channel_id     text    not null,
  left_at        bigint  not null,
  primary key (destination_id, target)
);

-- One row a message Destination, Alert Group or Storm, and target. Written by the actor of the Destination only.
create table deliveries (
  destination_id      text    not null,
  -- The id of the Alert Group, or `<route>@<start of the Storm, µs>`.
  subject             text    not null,
  target              integer not null,
  -- Null for a Storm.
  group_id            text,
  route_id            text    not null,
  -- #N; null until it is known here, and for a Storm.
  number              bigint,
  urgent              boolean not null,
  -- Of the Alert Group as it was heard last; false for a Storm that is over.
  is_open             boolean not null,
  state               text    not null check (
    state in ('pending', 'delivered', 'not_delivered', 'deleted_in_messenger', 'withheld', 'retired')
  ),
  possible_duplicate  boolean not null,
  thread_not_attached boolean not null,
  message_url         text,
  -- Masked.
  error               text,
  updated_at          bigint  not null,
  -- There is something to do: it is in memory while its Destination is.
  wanted              boolean not null,
  -- What only the actor reads: the Publication, ids of the message, the hash that the messenger has, attempts, notes,
  -- and what is still to be said under it.
  kept                jsonb   not null,
  primary key (destination_id, subject, target)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- What a Destination loads, Urgent first, then by #N.
create index deliveries_wanted on deliveries (destination_id, urgent desc, number, subject, target) where wanted;
-- Delivery state of an Alert Group, and its end.
create index deliveries_of_group on deliveries (group_id) where group_id is not null;
-- Retention of those about Storms.
create index deliveries_of_storms on deliveries (updated_at) where group_id is null;
-- What is rendered anew after a change of a Route.
create index deliveries_of_route on deliveries (destination_id, route_id, subject) where is_open;

-- Templates of Routes that failed when they were last rendered. Written by the actors of the Routes.
create table route_template_errors (
  route_id text   not null,
  template text   not null check (template in ('root_message', 'line', 'ack_timeout_notice')),
  since    bigint not null,
  error    text   not null,
  primary key (route_id, template)
);

-- Whose message it is that somebody presses a button of, answers to or deletes.
create table delivered_messages (
  connection_id  text    not null,
  message_id     text    not null,
  destination_id text    not null,
  kind           text    not null check (kind in ('root', 'reply', 'storm_summary', 'test')),
  -- Null for a Storm summary and for a test about no Alert Group.
  group_id       text,
  -- The Root message that is kept up to date.
  is_present     boolean not null,
  posted_at      bigint  not null,
  primary key (connection_id, message_id)
);

create index delivered_messages_of_group on delivered_messages (group_id) where group_id is not null;
-- Retention of those about no Alert Group.
create index delivered_messages_posted on delivered_messages (posted_at) where group_id is null;
