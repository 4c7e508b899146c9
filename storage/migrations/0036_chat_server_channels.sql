-- Channels of chat servers: the team of a channel, and what a check found of it.

alter table destinations
  add column team_id   text,
  add column team_name text,
  -- The team's part of addresses of its server.
  add column team_path text;
