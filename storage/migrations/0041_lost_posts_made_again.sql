-- Channel bots: posts whose answer was lost, and that were made again before their copies were seen.

-- Earlier posts of Root messages, of delivered_messages, that still have to get their last edit.
create table lost_posts (
  connection_id text not null,
  message_id text not null,
  next_try_at bigint not null,
  primary key (connection_id, message_id)
);

create index lost_posts_next_try on lost_posts (next_try_at);
