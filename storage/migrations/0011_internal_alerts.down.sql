alter table downtimes drop column told_started_at, drop column told_number;
drop table internal_alerts;
