-- A Destination that joins a Route goes through the open groups of it by #N, page by page. Neither column ever changes
-- without the predicate or the Route.
drop index alert_groups_route;
create index alert_groups_route on alert_groups (route_id, number) include (status) where status <> 'resolved';
