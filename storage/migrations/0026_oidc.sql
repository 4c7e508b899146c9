-- Sign-in through an identity provider: its settings, who signs in through it, and sign-ins under way.

create table oidc_settings (
  singleton boolean primary key default true check (singleton),
  version   integer not null,
  -- The API's own keys; see actors/access/oidc/settings.ts.
  settings  jsonb   not null,
  -- {enabled, type, address, username}; the password is sealed.
  proxy     jsonb   not null default '{"enabled": false, "type": null, "address": null, "username": null}',
  -- Null before the first save.
  updated_at bigint,

  client_secret     sealed,
  client_secret_at  bigint,
  proxy_password    sealed,
  proxy_password_at bigint,

  -- Whether the provider said nothing of groups when it was last asked.
  groups_claim_missing boolean not null default false
);

insert into oidc_settings (version, settings) values (
  0,
  '{
    "enabled": false,
    "display_name": "",
    "issuer_url": "",
    "client_id": "",
    "client_secret_expires_on": null,
    "scopes": ["profile", "email"],
    "groups_claim": "groups",
    "group_mappings": [],
    "unmatched_role": "none",
    "sync_role": true,
    "skip_totp_with_idp_mfa": false
  }'
);

alter table users
  -- The identity at the provider: whoever has one signs in through it. Of a deleted user it is kept to refuse it.
  add column oidc_issuer        text,
  add column oidc_subject       text,
  add column oidc_signed_in_at  bigint,
  -- When the provider last vouched for the user, by a sign-in or a check.
  add column oidc_contact_at    bigint,
  -- Set when it refused the user, until the next sign-in through it.
  add column oidc_refused_at    bigint,
  -- The next check is due then.
  add column oidc_check_at      bigint,
  -- The Role that the provider would have given the last active Admin.
  add column oidc_withheld_role text check (oidc_withheld_role in ('admin', 'responder', 'viewer')),
  -- Refresh token of the provider; every other one has another time.
  add column offline_token      sealed,
  add column offline_token_at   bigint,
  -- Whether the provider alone decides the Role. Kept by the trigger below and by saves of oidc_settings.
  add column role_locked        boolean not null default false,
  add constraint users_identity_whole check (num_nulls(oidc_issuer, oidc_subject, oidc_signed_in_at) in (0, 3));

create unique index users_oidc_identity on users (oidc_issuer, oidc_subject) where oidc_subject is not null;
create index users_oidc_checks on users (oidc_check_at) where offline_token is not null;

create function oidc_locks_role() returns trigger language plpgsql as $$
begin
  new.role_locked := false;
  -- Settings are locked for whoever gets an identity only: a save of them waits for those who have one.
  if new.oidc_subject is not null then
    select (settings ->> 'enabled')::boolean and (settings ->> 'sync_role')::boolean
    into new.role_locked from oidc_settings for share;
  end if;
  return new;
end
$$;

create trigger role_locked before insert or update of oidc_subject on users
  for each row execute function oidc_locks_role();

-- Sign-ins and links that went to the provider and have not come back.
create table oidc_requests (
  -- SHA-256 of the state that the browser carries.
  state_hash bytea  primary key,
  nonce      text   not null,
  verifier   sealed,
  return_to  text   not null,
  -- Of a link: whose account, in which session; null for a sign-in.
  user_id    text   references users (id),
  session_id text,
  expires_at bigint not null,
  check ((user_id is null) = (session_id is null))
);

create index oidc_requests_old on oidc_requests (expires_at);
