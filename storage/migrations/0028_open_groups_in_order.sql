-- earlier form: 0305289d5148f125600a4e8774c27e3ade029e070f034d9a25f8b397c310a137
-- A Destination that joins a Route goes through the open groups of it by #N, page by page. Neither column ever changes
-- without the predicate or the Route.

-- step: outside a transaction
create index concurrently alert_groups_route_anew on alert_groups (route_id, number) include (status)
  where status <> 'resolved';

-- step: in one transaction
drop index alert_groups_route;
alter index alert_groups_route_anew rename to alert_groups_route;
