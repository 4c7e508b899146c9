drop table dead_letters, counters, shards, inbox, actors;
