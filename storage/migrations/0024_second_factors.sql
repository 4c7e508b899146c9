-- Second factors of users, and links with which people set a password.

alter table users
  add column totp_seed           sealed,
  -- When it was confirmed; tells one enrolment from the next.
  add column totp_enrolled_at    bigint,
  -- Of the last code that was accepted; only later ones count.
  add column totp_last_step      bigint,
  add column totp_pending_seed   sealed,
  -- PHC strings of the recovery codes that were not used yet.
  add column totp_recovery_codes text[] not null default '{}',
  add constraint users_totp_whole check (num_nulls(totp_seed, totp_enrolled_at) in (0, 2));

-- What last_admin counts.
create index users_active_admins on users (id) where role = 'admin' and status = 'active';

create table password_setup_links (
  -- SHA-256 of the token; the token itself is nowhere.
  hash       bytea  primary key,
  user_id    text   not null references users (id),
  created_at bigint not null,
  expires_at bigint not null,
  -- When it was used, or replaced by whatever else set the password.
  ended_at   bigint
);

create unique index password_setup_links_live on password_setup_links (user_id) where ended_at is null;
create index password_setup_links_old on password_setup_links (expires_at);
