-- Channel bots: how their updates arrive, where their channels are, and the copies of posts in discussion groups.

alter table connections
  -- Of a channel bot.
  add column update_mode text check (update_mode in ('long_polling', 'webhook')),
  -- The callback address that the messenger was told last; null: none.
  add column webhook_url text,
  -- Polls find a webhook of somebody else.
  add column webhook_blocks boolean not null default false,
  -- The messenger proves itself with it in webhook mode.
  add column webhook_secret sealed,
  add column webhook_secret_at bigint;

-- Of a channel bot, as a check found them: the channel (whose title is `channel_name`) and its discussion group.
alter table destinations
  add column chat_id text,
  -- Of a public channel, for addresses of its posts.
  add column chat_username text,
  add column discussion_group_id text,
  add column discussion_group_title text;

-- A post of a channel is forwarded into the discussion group: comments under it reply to its copy there.
create table channel_copies (
  connection_id text   not null,
  channel_id    text   not null,
  post_id       text   not null,
  group_id      text   not null,
  copy_id       text   not null,
  seen_at       bigint not null,
  primary key (connection_id, channel_id, post_id)
);

-- A press under a copy counts for its post.
create unique index channel_copies_copy on channel_copies (connection_id, group_id, copy_id);
-- What nothing was posted for.
create index channel_copies_old on channel_copies (seen_at);
