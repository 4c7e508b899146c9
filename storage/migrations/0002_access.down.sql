drop table audit_log, login_throttles, sessions, users, organization;
drop function audit_log_is_append_only;
