/** The limiter of a Destination: a token bucket, refilled continuously (delivery §6). Pure. */
import { type Micros, SECOND } from '../../runtime/clock.ts';

export interface Limiter {
  readonly limit: number;
  readonly per_seconds: number;
}

export interface Bucket {
  /** May hold a fraction. */
  readonly tokens: number;
  readonly at: Micros;
}

/** Rounding of fractions must not cost a token that is due. */
const TOLERANCE = 1e-9;

/** The bucket at first use: full. */
export function fullBucket(limiter: Limiter, now: Micros): Bucket {
  return { tokens: limiter.limit, at: now };
}

/** The bucket as it stands now. Tokens above the capacity, also of a limiter just lowered, are lost. */
export function refilled(bucket: Bucket, limiter: Limiter, now: Micros): Bucket {
  const passed = Math.max(0, now - bucket.at);
  const gained = (passed * limiter.limit) / (limiter.per_seconds * SECOND);
  return { tokens: Math.min(limiter.limit, bucket.tokens + gained), at: Math.max(now, bucket.at) };
}

/** The bucket with one token less, or null when it has none. */
export function withoutToken(bucket: Bucket): Bucket | null {
  if (bucket.tokens < 1 - TOLERANCE) return null;
  return { tokens: Math.max(0, bucket.tokens - 1), at: bucket.at };
}

/** When the bucket holds a token. */
export function tokenDueAt(bucket: Bucket, limiter: Limiter): Micros {
  const missing = Math.max(0, 1 - TOLERANCE - bucket.tokens);
  return bucket.at + Math.ceil((missing * limiter.per_seconds * SECOND) / limiter.limit);
}

const FEWEST_STARTED = 10;
const MOST_STARTED = 40;
/** Calls started ahead are worth at most this much of the limiter's rate. */
const AHEAD_SECONDS = 0.04;

/** Calls that may be started ahead of those that are under way. A slow limiter allows none. */
export function callsAhead({ limit, per_seconds: seconds }: Limiter): number {
  return Math.floor((limit / seconds) * AHEAD_SECONDS);
}

/**
 * How many calls may be started at once. Ten requests of a Destination are under way together (webhooks §3.2); a fast
 * one is given a few more, so that the next request does not wait for the commit that starts it. A slow one gets none
 * ahead: they would go out faster than its limiter allows.
 */
export function mostStarted(limiter: Limiter): number {
  return Math.min(MOST_STARTED, Math.max(FEWEST_STARTED, callsAhead(limiter)));
}
