-- Channel bots: a post whose answer was lost, and that was made again before its copy was seen.

alter table delivered_messages
  -- An earlier post of a Root message that still has to get its last edit.
  add column is_lost boolean not null default false;

create index delivered_messages_lost on delivered_messages (posted_at) where is_lost;

drop index channel_copies_about;
create index channel_copies_about on channel_copies (about) where about is not null;
