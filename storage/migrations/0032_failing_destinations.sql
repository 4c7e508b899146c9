-- Since when every call to a Destination has failed, and the error of the newest; null after a success.
alter table destinations add column failing_since bigint;
alter table destinations add column failing_error text;
