-- Channel bots: a post whose answer was lost is known by its copy.

alter table channel_copies
  -- The Alert Group that the heading of the post leads to; null: it is no Root message.
  add column about text;

create index channel_copies_about on channel_copies (about) where about is not null;
