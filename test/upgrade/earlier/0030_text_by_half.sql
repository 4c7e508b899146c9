-- Text is looked up as labels are: each half has an index of its own, so that very many resolved groups are no burden to a
-- look at the open ones. What was written last waits in a list that every look-up goes through from end to end: it is
-- short (kB), for that is what makes the next look-up wait.
do $$
begin
  if exists (select from pg_extension where extname = 'pg_trgm') then
    create index alert_groups_open_text on alert_groups
      using gin ((title || ' ' || coalesce(summary, '')) gin_trgm_ops)
      with (gin_pending_list_limit = 512) where status <> 'resolved';
    create index alert_groups_resolved_text on alert_groups
      using gin ((title || ' ' || coalesce(summary, '')) gin_trgm_ops)
      with (gin_pending_list_limit = 512) where status = 'resolved';
    drop index if exists alert_groups_text;
  end if;
end
$$;
alter index alert_groups_open_labels set (gin_pending_list_limit = 512);
alter index alert_groups_resolved_labels set (gin_pending_list_limit = 512);
