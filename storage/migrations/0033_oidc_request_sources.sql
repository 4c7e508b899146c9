-- Pending sign-ins are bounded by where they come from, not all together.
alter table oidc_requests add column source text not null default '';

create index oidc_requests_of_source on oidc_requests (source, expires_at);
