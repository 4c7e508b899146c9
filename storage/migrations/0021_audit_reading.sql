-- Reading the Audit log: which token acted, and filters that read no more than they show.

alter table audit_log add column token_id text;

create index audit_log_by_action on audit_log (action, at);
create index audit_log_by_resource_type on audit_log (resource_type, at);

-- Row triggers come to a partition with its table, those of TRUNCATE do not.
do $$
declare
  partition regclass;
begin
  for partition in select inhrelid from pg_inherits where inhparent = 'audit_log'::regclass loop
    execute format(
      'create trigger not_truncated before truncate on %s
        for each statement execute function audit_log_is_append_only()',
      partition
    );
  end loop;
end
$$;
