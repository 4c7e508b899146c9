-- The newest times without a Leader's sign of life, oldest first, as {"from", "to"} in µs: silence of a sender in one of
-- them proves nothing.
alter table alive_mark add column outages jsonb not null default '[]';
