-- Named filters of the list of Alert Groups that a person keeps, for themselves or for everybody.

create table saved_views (
  id text primary key,
  version bigint not null,
  owner_id text not null references users (id),
  name text not null,
  -- The query string of the list, as the address bar shows it.
  query text not null,
  shared boolean not null,
  created_at bigint not null
);
create unique index saved_views_name on saved_views (owner_id, name collate "C");

-- The view with which the list of a person begins: one of their own or a shared one.
create table default_views (
  user_id text primary key references users (id),
  view_id text not null references saved_views (id) on delete cascade
);
create index default_views_view on default_views (view_id);
