-- What lists ask of labels and counts ask of a Route. Open groups are few among many, and asked for most: each half of the
-- labels has an index of its own, so that a group is in one of them only, and the resolved ones are no burden to a look at
-- the open ones.
create index alert_groups_open_labels on alert_groups using gin (common_labels jsonb_path_ops)
  where status <> 'resolved';
create index alert_groups_resolved_labels on alert_groups using gin (common_labels jsonb_path_ops)
  where status = 'resolved';
drop index alert_groups_labels;

-- The columns beside the keys change with the status or the Route only, which touches these indexes anyway.
drop index alert_groups_resolved;
create index alert_groups_resolved on alert_groups (resolved_at desc) include (route_id) where status = 'resolved';
drop index alert_groups_route;
create index alert_groups_route on alert_groups (route_id) include (status) where status <> 'resolved';
