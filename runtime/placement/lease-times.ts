/** Times of leases, µs (operations §5.2, §5.4, §5.5). */
import { type Micros, SECOND } from '../clock.ts';

/** A member without a renewal for this long has lapsed. */
export const LEASE_TTL: Micros = 3 * SECOND;
/** A renewal that was not confirmed for this long is in doubt, and so is whether others could renew theirs. */
export const DOUBT_AFTER: Micros = 2 * SECOND;
/** Interval of beats: each renews the lease and finds lapsed members. */
export const LOOK_EVERY: Micros = SECOND / 2;
/** Without Redis, messages between replicas are polled in the database this often. */
export const POLL_EVERY: Micros = SECOND;
/** Without Redis, a member that waits for replies polls them this often: the request has cost up to a second already. */
export const ANSWERS_EVERY: Micros = SECOND / 4;
/** Without Redis, a member whose record in the database is older than this counts as dead. */
export const RECORD_LAPSES: Micros = 90 * SECOND;
/** Without Redis, ownerless shards are looked for this often. */
export const ORPHANS_EVERY: Micros = 10 * SECOND;
/** Without Redis, the Leader and the shards that others took are read this often. */
export const LONE_LOOK_EVERY: Micros = 5 * SECOND;
/** How long a planned move of a shard waits for its outbound calls in flight. */
export const CALLS_WITHIN: Micros = 0.6 * SECOND;
/** How often those calls are checked. */
export const CALLS_LOOK: Micros = SECOND / 20;
/** How long a stop waits for other replicas to take its shards. */
export const DRAIN_WITHIN: Micros = 5 * SECOND;
/** How often a replica compares its epochs with the database, to find losses that no commit has shown. */
export const COMPARE_EVERY: Micros = 30 * SECOND;
/** How often a replica refreshes its record in the database (operations §5.7). */
export const RECORD_EVERY: Micros = 30 * SECOND;
