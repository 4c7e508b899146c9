-- Requests that deliver to a Destination, counted by the hour as the Request log is written, because a busy Destination
-- passes the bound of the log within minutes. Rows are kept for two days.

create table delivery_hours (
  -- Start of the hour, µs.
  hour           bigint  not null,
  destination_id text    not null,
  delivered      integer not null,
  failed         integer not null,
  -- Also the range that is read: all Destinations of the last hours.
  primary key (hour, destination_id)
) with (fillfactor = 70);
