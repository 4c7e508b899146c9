/** What a limiter lets through: tokens that fill steadily, or the calls of a sliding time (delivery §6). Pure. */
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
export interface Bucket {
  /** May hold a fraction. */
  readonly tokens: number;
  readonly at: Micros;
  /** Of a sliding limiter: those that count, each until `per_seconds` later. */
  readonly calls?: Calls;
}

interface Calls {
  /** When each was over. */
  readonly ended: readonly Micros[];
  /** When each is taken for over if its end is never told; in the order in which they began. */
  readonly underWay: readonly Micros[];
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
  return { tokens: limit, at: now, ...(sliding && { calls: { ended: [], underWay: [] } }) };
}

/** The bucket as it stands now. Tokens above the capacity, also of a limiter just lowered, are lost. */
export function refilled(bucket: Bucket, limiter: Limiter, now: Micros): Bucket {
  const at = Math.max(now, bucket.at);
  if (limiter.sliding) {
    const { ended, underWay } = callsIn(bucket, limiter);
    const counts = (over: Micros) => over + timeOf(limiter) > at;
    return withCalls({ ended: ended.filter(counts), underWay: underWay.filter(counts) }, limiter, at);
  }
  const passed = Math.max(0, now - bucket.at);
  const gained = (passed * limiter.limit) / timeOf(limiter);
  return { tokens: Math.min(limiter.limit, bucket.tokens + gained), at };
}

/** Clocks of replicas differ by less. */
const LEAST_SET_BACK: Micros = SECOND;

/**
 * Null or, when the clock was set back since the bucket was stored, the bucket and its wait moved to `now`: they would
 * give no token until the clock is there again. To be stored, so that tokens are gained from `now` on.
 * @param heldUntil as given to {@link heldBucket}, whose time is ahead on purpose
 */
export function afterSetBack(
  { tokens, at, calls }: Bucket,
  heldUntil: Micros | null,
  now: Micros,
): { readonly bucket: Bucket; readonly heldUntil: Micros | null } | null {
  if (at - now < LEAST_SET_BACK || at === heldUntil) return null;
  const moved = (times: readonly Micros[]) => times.map((time) => time - (at - now));
  return {
    bucket: {
      ...{ tokens, at: now },
      ...(calls && { calls: { ended: moved(calls.ended), underWay: moved(calls.underWay) } }),
    },
    // A wait that was over when the bucket was stored stays over.
    heldUntil: heldUntil === null || heldUntil <= at ? null : heldUntil - (at - now),
  };
}

/** Tokens that were counted before the limiter slid and are gone are calls that ended just then. */
function callsIn({ calls, tokens, at }: Bucket, { limit }: Limiter): Calls {
  if (calls) return calls;
  const gone = Math.max(0, limit - Math.floor(tokens));
  return { ended: Array.from({ length: gone }, () => at), underWay: [] };
}

function withCalls(calls: Calls, { limit }: Limiter, at: Micros): Bucket {
  return { tokens: Math.max(0, limit - calls.ended.length - calls.underWay.length), at, calls };
}

/** The bucket with one token less, or null when it has none. */
export function withoutToken(bucket: Bucket, limiter: Limiter, call: LimitedCall): Bucket | null {
  const { tokens, at, calls } = bucket;
  if (tokens < 1 - TOLERANCE) return null;
  if (!calls) return { tokens: Math.max(0, tokens - 1), at };
  const { ended, underWay } = calls;
  const over = at + call.longest;
  const taken = call.isEndTold
    ? { ended, underWay: [...underWay, over] }
    : { ended: [...ended, over], underWay };
  return withCalls(taken, limiter, at);
}

/** A call whose end is told is over. Tokens fill without being told. */
export function withEnded(bucket: Bucket, limiter: Limiter): Bucket {
  const { at, calls } = bucket;
  if (!calls || calls.underWay.length === 0) return bucket;
  return withCalls({ ended: [...calls.ended, at], underWay: calls.underWay.slice(1) }, limiter, at);
}

/** A token of a call whose end is told was not used: it is there again, unless the bucket is full. */
export function withToken(bucket: Bucket, limiter: Limiter): Bucket {
  const { tokens, at, calls } = bucket;
  if (calls) return withCalls({ ...calls, underWay: calls.underWay.slice(0, -1) }, limiter, at);
  return { tokens: Math.min(limiter.limit, tokens + 1), at };
}

/** The messenger asked for no call before `until`: one token exactly then. Calls that count go on counting. */
export function heldBucket(bucket: Bucket, until: Micros): Bucket {
  return bucket.calls ? bucket : { tokens: 1, at: until };
}

/** When the bucket holds a token, unless a call ends before. */
export function tokenDueAt(bucket: Bucket, limiter: Limiter): Micros {
  if (bucket.calls) return dueAt([...bucket.calls.ended, ...bucket.calls.underWay], bucket.at, limiter);
  const missing = Math.max(0, 1 - TOLERANCE - bucket.tokens);
  return bucket.at + Math.ceil((missing * timeOf(limiter)) / limiter.limit);
}

/** When the bucket holds a token at the earliest: all calls may end just now. */
export function tokenSoonestAt(bucket: Bucket, limiter: Limiter): Micros {
  const { at, calls } = bucket;
  if (!calls) return tokenDueAt(bucket, limiter);
  return dueAt([...calls.ended, ...calls.underWay.map((over) => Math.min(over, at))], at, limiter);
}

function dueAt(over: readonly Micros[], now: Micros, limiter: Limiter): Micros {
  const last = over.toSorted((one, other) => one - other).at(-limiter.limit);
  return last === undefined ? now : last + timeOf(limiter);
}

function timeOf({ per_seconds: seconds }: Limiter): Micros {
  return seconds * SECOND;
}
