import { describe, expect, test } from 'vitest';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import { randomSource } from '../../test/harness/random.ts';
import {
  afterSetBack,
  type Bucket,
  fullBucket,
  heldBucket,
  type LimitedCall,
  type Limiter,
  refilled,
  tokenDueAt,
  tokenSoonestAt,
  withEnded,
  withoutToken,
  withToken,
} from './limiter.ts';

const STEADY: Limiter = { limit: 3, per_seconds: 10 };
const TOLD: LimitedCall = { longest: MINUTE, isEndTold: true };
const UNTOLD: LimitedCall = { longest: 5 * SECOND, isEndTold: false };
const SLIDING: Limiter = { limit: 20, per_seconds: 60, sliding: true };

function taken(bucket: Bucket, limiter: Limiter, call: LimitedCall): Bucket {
  const left = withoutToken(bucket, limiter, call);
  if (!left) throw new Error('no token');
  return left;
}

test('tokens fill up to the limit and no further, however long nothing was sent', () => {
  const spent = taken(fullBucket(STEADY, 0), STEADY, TOLD);
  const tokensAt = (now: Micros, bucket: Bucket = spent) => refilled(bucket, STEADY, now).tokens;
  expect(tokensAt(3 * SECOND)).toBeCloseTo(2.9);
  expect(tokensAt(4 * SECOND)).toBe(3);
  expect(tokensAt(HOUR)).toBe(3);
  expect(tokensAt(SECOND, { tokens: 30, at: 0 })).toBe(3);
});

test.each([STEADY, SLIDING])('tokens come back as usual after the clock was set back (%o)', (limiter) => {
  const spent = Array.from({ length: limiter.limit }).reduce<Bucket>(
    (bucket) => withEnded(taken(bucket, limiter, TOLD), limiter),
    fullBucket(limiter, HOUR),
  );
  const setBack = afterSetBack(spent, null, MINUTE)!.bucket;
  expect(refilled(setBack, limiter, MINUTE).tokens).toBe(0);
  const full = MINUTE + limiter.per_seconds * SECOND;
  expect(refilled(setBack, limiter, full - SECOND).tokens).toBeLessThan(limiter.limit);
  expect(refilled(setBack, limiter, full).tokens).toBe(limiter.limit);
});

test('a wait the messenger asked for is not taken for a clock that was set back', () => {
  const held = heldBucket(fullBucket(STEADY, 0), HOUR);
  expect(afterSetBack(held, HOUR, MINUTE)).toBeNull();
});

test('after the clock was set back, a wait that was over stays over, and another lasts as long as before', () => {
  const stored = fullBucket(SLIDING, HOUR);
  expect(afterSetBack(stored, HOUR - MINUTE, MINUTE)?.heldUntil).toBeNull();
  expect(afterSetBack(stored, HOUR + 7 * SECOND, MINUTE)?.heldUntil).toBe(MINUTE + 7 * SECOND);
});

test('clocks of replicas that differ by less than a second are not taken for one that was set back', () => {
  expect(afterSetBack(fullBucket(STEADY, HOUR), null, HOUR - SECOND + 1)).toBeNull();
});

interface Call {
  readonly begun: Micros;
  readonly ended: Micros;
}

/** Calls that begin as soon as the limiter allows, `atOnce` at a time, and take between nothing and `slowest`. */
function calls(
  limiter: Limiter,
  until: Micros,
  slowest: Micros,
  atOnce: number,
  seed: number,
): readonly Call[] {
  const random = randomSource(seed);
  const over: Call[] = [];
  let underWay: Call[] = [];
  let bucket = fullBucket(limiter, 0);
  for (let now = 0; now < until; ) {
    for (const _ of underWay.filter(({ ended }) => ended <= now)) {
      bucket = withEnded(refilled(bucket, limiter, now), limiter);
    }
    underWay = underWay.filter(({ ended }) => ended > now);
    bucket = refilled(bucket, limiter, now);
    const left = underWay.length < atOnce ? withoutToken(bucket, limiter, TOLD) : null;
    if (left) {
      bucket = left;
      const call = { begun: now, ended: now + Math.ceil(random() * slowest) };
      underWay.push(call);
      over.push(call);
    } else {
      const ends = underWay.map(({ ended }) => ended);
      now = Math.min(
        ...ends,
        underWay.length < atOnce ? tokenDueAt(bucket, limiter) : Number.POSITIVE_INFINITY,
      );
    }
  }
  return over;
}

/** Most of these times that fall into one `per_seconds`. */
function mostTogether(times: readonly Micros[], { per_seconds: seconds }: Limiter): number {
  const sorted = times.toSorted((one, other) => one - other);
  return Math.max(
    ...sorted.map((from) => sorted.filter((at) => at >= from && at < from + seconds * SECOND).length),
  );
}

describe('of a sliding limiter', () => {
  test.each([1, 2, 3, 4, 5])(
    'no more calls than its limit arrive in any of its times, however slow each of them is (seed %i)',
    (seed) => {
      const random = randomSource(seed);
      const made = calls(SLIDING, 10 * MINUTE, 20 * SECOND, 4, seed);
      const arrivals = made.map(({ begun, ended }) => begun + Math.floor(random() * (ended - begun)));
      expect(mostTogether(arrivals, SLIDING)).toBeLessThanOrEqual(SLIDING.limit);
      const steady = calls({ limit: 20, per_seconds: 60 }, 10 * MINUTE, 20 * SECOND, 4, seed);
      expect(
        mostTogether(
          steady.map(({ begun }) => begun),
          SLIDING,
        ),
      ).toBeGreaterThan(SLIDING.limit);
    },
  );

  test('as many as its limit begin in each of its times where calls take no time', () => {
    const begun = calls(SLIDING, 3 * MINUTE, 0, 4, 1).map(({ begun }) => begun);
    expect(begun).toEqual([0, MINUTE, 2 * MINUTE].flatMap((at) => Array.from({ length: 20 }, () => at)));
  });

  test('a call whose end is never told counts for as long as it may take', () => {
    const one: Limiter = { limit: 1, per_seconds: 10, sliding: true };
    expect(tokenDueAt(taken(fullBucket(one, 0), one, TOLD), one)).toBe(MINUTE + 10 * SECOND);
  });

  test('a call whose end is not told takes the place of no other', () => {
    const two: Limiter = { limit: 2, per_seconds: 10, sliding: true };
    const both = taken(taken(fullBucket(two, 0), two, UNTOLD), two, TOLD);
    const ended = withEnded(refilled(both, two, SECOND), two);
    expect(tokenDueAt(ended, two)).toBe(11 * SECOND);
    expect(refilled(ended, two, 11 * SECOND).tokens).toBe(1);
    expect(refilled(ended, two, 15 * SECOND).tokens).toBe(2);
  });

  test('a token that was not used is there again at once', () => {
    const one: Limiter = { limit: 1, per_seconds: 10, sliding: true };
    expect(withToken(taken(fullBucket(one, 0), one, TOLD), one).tokens).toBe(1);
  });

  test('tokens that were counted before are calls that ended just now', () => {
    const before: Bucket = { tokens: 5.4, at: SECOND };
    const now = refilled(before, SLIDING, 2 * SECOND);
    expect(now.tokens).toBe(5);
    expect(refilled(now, SLIDING, SECOND + MINUTE).tokens).toBe(20);
  });

  test('another time counts at once for calls that were made before', () => {
    const hour: Limiter = { limit: 1, per_seconds: 3600, sliding: true };
    const ended = withEnded(taken(fullBucket(hour, 0), hour, TOLD), hour);
    expect(tokenDueAt(ended, hour)).toBe(HOUR);
    const minute: Limiter = { ...hour, per_seconds: 60 };
    expect(tokenDueAt(refilled(ended, minute, SECOND), minute)).toBe(MINUTE);
  });

  test('while all calls are under way a token is due at the earliest as if they ended now', () => {
    const one: Limiter = { limit: 1, per_seconds: 10, sliding: true };
    const begun = refilled(taken(fullBucket(one, 0), one, TOLD), one, SECOND);
    expect(tokenSoonestAt(begun, one)).toBe(11 * SECOND);
    expect(tokenDueAt(begun, one)).toBe(MINUTE + 10 * SECOND);
  });

  test('what is stored can be read by a version that counts tokens', () => {
    const two: Limiter = { limit: 2, per_seconds: 10, sliding: true };
    const { calls: _calls, ...tokens } = taken(fullBucket(two, 0), two, TOLD);
    expect(tokens).toEqual({ tokens: 1, at: 0 });
    expect(refilled(tokens, { limit: 2, per_seconds: 10 }, 5 * SECOND).tokens).toBe(2);
  });

  test('a lowered limit waits until as many calls are over', () => {
    const low: Limiter = { ...SLIDING, limit: 1 };
    let bucket = fullBucket(SLIDING, 0);
    for (const at of [0, SECOND, 2 * SECOND]) bucket = taken(refilled(bucket, SLIDING, at), SLIDING, UNTOLD);
    const lowered = refilled(bucket, low, 2 * SECOND);
    expect(lowered.tokens).toBe(0);
    expect(tokenDueAt(lowered, low)).toBe(MINUTE + 7 * SECOND);
  });
});
