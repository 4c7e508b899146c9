/** What a limiter lets through: tokens that fill steadily, or the calls of a sliding window (delivery §6). Pure. */
import { type Micros, SECOND } from '../../runtime/clock.ts';

export interface Limiter {
  readonly limit: number;
  readonly per_seconds: number;
  /**
   * No more than `limit` calls fall into any `per_seconds`, at whatever time between its beginning and its end each
   * arrives there. Left out: tokens that fill steadily, so that twice the limit may fall into the first `per_seconds`.
   */
  readonly sliding?: true;
}

export function isSameLimiter(one: Limiter | null, other: Limiter): boolean {
  const { limit, per_seconds: seconds, sliding } = one ?? {};
  return limit === other.limit && seconds === other.per_seconds && sliding === other.sliding;
}

/** What is left of a limiter at a time. */
export type Bucket = Tokens | Window;

interface Tokens {
  /** May hold a fraction. */
  readonly tokens: number;
  readonly at: Micros;
}

interface Window {
  /** When the place of each call that is over is free again. */
  readonly freeAt: readonly Micros[];
  /** The same of calls whose end is still to be told, should it never be; in the order in which they began. */
  readonly underWay: readonly Micros[];
  readonly at: Micros;
}

/** A call that takes a token. */
export interface LimitedCall {
  /** It takes at most this long. */
  readonly longest: Micros;
  /** Its end is told by {@link withEnded}. */
  readonly isEndTold: boolean;
}

/** Rounding of fractions must not cost a token that is due. */
const TOLERANCE = 1e-9;

/** The bucket at first use: full. */
export function fullBucket({ limit, sliding }: Limiter, now: Micros): Bucket {
  return sliding ? { freeAt: [], underWay: [], at: now } : { tokens: limit, at: now };
}

/** The bucket as it stands now. Tokens above the capacity, also of a limiter just lowered, are lost. */
export function refilled(bucket: Bucket, limiter: Limiter, now: Micros): Bucket {
  const at = Math.max(now, bucket.at);
  if (limiter.sliding) {
    const { freeAt, underWay } = windowOf(bucket, limiter);
    const isTaken = (free: Micros) => free > at;
    return { freeAt: freeAt.filter(isTaken), underWay: underWay.filter(isTaken), at };
  }
  if ('freeAt' in bucket) return fullBucket(limiter, now);
  const passed = Math.max(0, now - bucket.at);
  const gained = (passed * limiter.limit) / timeOf(limiter);
  return { tokens: Math.min(limiter.limit, bucket.tokens + gained), at };
}

/** Of tokens that were counted before the limiter slid, those that are gone are calls that ended just now. */
function windowOf(bucket: Bucket, limiter: Limiter): Window {
  if ('freeAt' in bucket) return bucket;
  const gone = Math.max(0, limiter.limit - Math.floor(bucket.tokens));
  const freeAt = Array.from({ length: gone }, () => bucket.at + timeOf(limiter));
  return { freeAt, underWay: [], at: bucket.at };
}

/** How many calls may begin at the time of the bucket; may be a fraction. */
export function tokensIn(bucket: Bucket, { limit }: Limiter): number {
  if ('tokens' in bucket) return bucket.tokens;
  return Math.max(0, limit - bucket.freeAt.length - bucket.underWay.length);
}

/** The bucket with one token less, or null when it has none. */
export function withoutToken(bucket: Bucket, limiter: Limiter, call: LimitedCall): Bucket | null {
  if (tokensIn(bucket, limiter) < 1 - TOLERANCE) return null;
  if ('tokens' in bucket) return { tokens: Math.max(0, bucket.tokens - 1), at: bucket.at };
  const { freeAt, underWay, at } = bucket;
  const free = at + call.longest + timeOf(limiter);
  return call.isEndTold
    ? { freeAt, underWay: [...underWay, free], at }
    : { freeAt: [...freeAt, free], underWay, at };
}

/** A call whose end is told is over. Tokens fill without being told. */
export function withEnded(bucket: Bucket, limiter: Limiter): Bucket {
  if ('tokens' in bucket || bucket.underWay.length === 0) return bucket;
  const { freeAt, underWay, at } = bucket;
  return { freeAt: [...freeAt, at + timeOf(limiter)], underWay: underWay.slice(1), at };
}

/** A token that was not used is there again, unless the bucket is full. */
export function withToken(bucket: Bucket, { limit }: Limiter): Bucket {
  if ('underWay' in bucket) return { ...bucket, underWay: bucket.underWay.slice(0, -1) };
  return { ...bucket, tokens: Math.min(limit, bucket.tokens + 1) };
}

/** The messenger asked for no call before `until`: one token exactly then. A window knows what it let through. */
export function heldBucket(bucket: Bucket, until: Micros): Bucket {
  return 'freeAt' in bucket ? bucket : { tokens: 1, at: until };
}

/** When the bucket holds a token. */
export function tokenDueAt(bucket: Bucket, limiter: Limiter): Micros {
  if ('freeAt' in bucket) {
    const all = [...bucket.freeAt, ...bucket.underWay].sort((one, other) => one - other);
    return all.at(-limiter.limit) ?? bucket.at;
  }
  const missing = Math.max(0, 1 - TOLERANCE - bucket.tokens);
  return bucket.at + Math.ceil((missing * timeOf(limiter)) / limiter.limit);
}

function timeOf({ per_seconds: seconds }: Limiter): Micros {
  return seconds * SECOND;
}
