/** Times of leases, µs (operations §5.2, §5.4, §5.5). */
import { type Micros, SECOND } from '../clock.ts';

/** A member without a renewal for this long has lapsed. */
export const LEASE_TTL: Micros = 3 * SECOND;
/** A renewal that was not confirmed for this long is in doubt, and so is whether others could renew theirs. */
export const DOUBT_AFTER: Micros = 2 * SECOND;
/** Beats: every one looks for lapsed members and renews. */
export const LOOK_EVERY: Micros = SECOND / 2;
/** Without a place to meet, messages between replicas are looked for in the database this often. */
export const POLL_EVERY: Micros = SECOND;
/** Answers are looked for this often then, by who waits for one: the way there has cost a second already. */
export const ANSWERS_EVERY: Micros = SECOND / 4;
/** Without a place to meet, a member whose record in the database is older than this counts as dead. */
export const RECORD_LAPSES: Micros = 90 * SECOND;
/** Without a place to meet, shards that nobody acts for are looked for this often. */
export const ORPHANS_EVERY: Micros = 10 * SECOND;
/** Without a place to meet, it is looked this often who leads, and which shards others took. */
export const LONE_LOOK_EVERY: Micros = 5 * SECOND;
/** How long a shard that moves on purpose may stay for calls under way to end. */
export const CALLS_WITHIN: Micros = 0.6 * SECOND;
/** How often such calls are looked at. */
export const CALLS_LOOK: Micros = SECOND / 20;
/** How long a stop waits for its shards to be acted for elsewhere. */
export const DRAIN_WITHIN: Micros = 5 * SECOND;
/** How often a replica compares its epochs with those in the database, to find what no commit has told it. */
export const COMPARE_EVERY: Micros = 30 * SECOND;
/** How often a replica refreshes its record in the database (operations §5.7). */
export const RECORD_EVERY: Micros = 30 * SECOND;
