-- earlier form: 9b65790c51749aa2f0cfb77ca6a3e9ccb36de011ef96d4893cf94645336a9ad2
-- Text is looked up as labels are: each half has an index of its own, so that very many resolved groups are no burden to a
-- look at the open ones. What was written last waits in a list that every look-up goes through from end to end: it is
-- short (kB), for that is what makes the next look-up wait.

-- step: outside a transaction, with pg_trgm
create index concurrently alert_groups_open_text on alert_groups
  using gin ((title || ' ' || coalesce(summary, '')) gin_trgm_ops)
  with (gin_pending_list_limit = 512) where status <> 'resolved';

-- step: outside a transaction, with pg_trgm
create index concurrently alert_groups_resolved_text on alert_groups
  using gin ((title || ' ' || coalesce(summary, '')) gin_trgm_ops)
  with (gin_pending_list_limit = 512) where status = 'resolved';

-- step: in one transaction
drop index if exists alert_groups_text;
alter index alert_groups_open_labels set (gin_pending_list_limit = 512);
alter index alert_groups_resolved_labels set (gin_pending_list_limit = 512);
