-- Who may do what: the Organization, its users, their sessions, failed sign-ins, and the Audit log.

create table organization (
  id text primary key,
  -- There is exactly one Organization.
  single boolean not null default true unique check (single),
  version bigint not null,
  -- The API's own keys; see actors/access/organization.ts.
  settings jsonb not null
);

create table users (
  id text primary key,
  version bigint not null,
  login text not null,
  login_folded text not null,
  name text not null,
  email text,
  role text not null check (role in ('admin', 'responder', 'viewer')),
  source text not null check (source in ('local', 'oidc', 'bootstrap')),
  status text not null check (status in ('active', 'disabled', 'deleted')),
  -- PHC string; null for an account that cannot sign in with a password.
  password_hash text,
  time_zone text,
  language text check (language in ('en', 'ru')),
  last_sign_in_at bigint,
  created_at bigint not null
);

create unique index users_login on users (login_folded);
-- Pages of users and of the user picker.
create index users_by_name on users (lower(name) collate "C", id collate "C");

create table sessions (
  id text primary key,
  -- SHA-256 of the cookie's value; the value itself is nowhere.
  hash bytea not null unique,
  user_id text not null references users (id),
  state text not null check (state in ('active', 'totp_required', 'totp_enrolment_required')),
  method text not null check (method in ('local', 'oidc')),
  created_at bigint not null,
  last_used_at bigint not null,
  expires_at bigint not null,
  ended_at bigint,
  end_reason text,
  address text,
  user_agent text,
  check ((ended_at is null) = (end_reason is null))
);

create index sessions_of_user on sessions (user_id) where ended_at is null;

create table login_throttles (
  -- `account/<hash of the folded login>` or `source/<address>`.
  key text primary key,
  failures integer not null,
  last_failure_at bigint not null,
  -- The next attempt before this is refused without being looked at.
  allowed_at bigint not null,
  -- An attempt on this account is under evaluation until then.
  evaluating_until bigint not null
);

create index login_throttles_old on login_throttles (last_failure_at);

create table audit_log (
  id text not null,
  at bigint not null,
  actor_kind text not null,
  actor_id text,
  actor_name text not null,
  token_name text,
  transport text not null,
  action text not null,
  resource_type text,
  resource_id text,
  resource_name text,
  address text,
  diff jsonb not null,
  details jsonb not null,
  primary key (at, id)
) partition by range (at);

create index audit_log_by_actor on audit_log (actor_id, at);
create index audit_log_by_resource on audit_log (resource_id, at);

-- Entries are added and, with a whole month, dropped; never changed.
create function audit_log_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception 'audit_log is append-only';
end
$$;

create trigger audit_log_append_only before update or delete on audit_log
  for each row execute function audit_log_is_append_only();

create trigger audit_log_not_truncated before truncate on audit_log
  for each statement execute function audit_log_is_append_only();
