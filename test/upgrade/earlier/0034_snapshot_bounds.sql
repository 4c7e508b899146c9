-- How often the processing of a large Snapshot was begun. One that ends the process each time is set aside.
alter table snapshot_queue add column attempts smallint not null default 0;

-- The previous release kept texts of any length. They are cut as those of new Snapshots are (ingestion §4.3), so that lists
-- can be read. What a row takes on disk is looked at first, because that is known without reading the texts.
create function cut_text(whole text, longest integer) returns text language sql immutable as $$
  select case
    when length(whole) <= longest then whole
    else left(whole, longest) || '… [cut: ' || length(whole) || ' characters]'
  end
$$;

create function cut_map(map jsonb, longest integer) returns jsonb language sql immutable as $$
  select coalesce(jsonb_object_agg(cut_text(key, 1024), cut_text(value, longest)), '{}')
  from (select key, value from jsonb_each_text(map) limit 256) as entries
$$;

update alert_groups
set
  group_labels = cut_map(group_labels, 4096),
  common_labels = cut_map(common_labels, 4096),
  common_annotations = cut_map(common_annotations, 16384),
  summary = cut_text(summary, 16384)
where pg_column_size(group_labels) > 4096 or pg_column_size(common_labels) > 4096
  or pg_column_size(common_annotations) > 8192 or pg_column_size(summary) > 8192;

update group_alerts
set
  labels = cut_map(labels, 4096),
  annotations = cut_map(annotations, 16384),
  severity_raw = cut_text(severity_raw, 4096),
  generator_url = case when length(generator_url) <= 8192 then generator_url end
where pg_column_size(labels) > 4096 or pg_column_size(annotations) > 8192
  or pg_column_size(severity_raw) > 4096 or pg_column_size(generator_url) > 8192;

drop function cut_map;
drop function cut_text;
