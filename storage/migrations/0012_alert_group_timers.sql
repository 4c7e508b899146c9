-- When the next ack notice or Reminder of an Alert Group is due (µs), and whether its Owner owes an answer.

alter table alert_groups
  add column next_notice_at   bigint,
  add column reminder_pending boolean not null default false;
