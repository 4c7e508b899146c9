import { expect, test } from 'vitest';
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import {
  countAttempt,
  EVALUATION_LIMIT,
  evaluated,
  type Failures,
  NO_FAILURES,
  type Slowdown,
  takeBack,
} from './throttle.ts';

/** The throttle of one account, in memory. */
function createAccount() {
  const known = new Map<string, Failures>();
  const read = (source: string): Slowdown => ({
    account: known.get('account') ?? NO_FAILURES,
    pair: known.get(`account/${source}`) ?? NO_FAILURES,
    source: known.get(source) ?? NO_FAILURES,
  });
  const write = (name: string, { account, pair, source }: Slowdown) => {
    known.set('account', account).set(`account/${name}`, pair).set(name, source);
  };
  return {
    /** µs that an attempt would have to wait. */
    wait(source: string, now: Micros): Micros {
      const decision = countAttempt(read(source), now);
      return 'wait' in decision ? decision.wait : 0;
    },
    /** Makes an attempt as soon as it is admitted. @returns when that was */
    attempt(source: string, from: Micros, outcome: 'failed' | 'released'): Micros {
      const now = from + this.wait(source, from);
      const decision = countAttempt(read(source), now);
      if ('wait' in decision) throw new Error('refused after its wait');
      write(source, decision.counted);
      const after = read(source);
      write(
        source,
        outcome === 'failed' ? { ...after, account: evaluated(after.account, now) } : takeBack(after, now),
      );
      return now;
    },
  };
}

test.each(['failed', 'released'] as const)(
  'attempts of one source that are %s neither extend nor lift the wait that several sources caused',
  (outcome) => {
    const account = createAccount();
    let now: Micros = 100 * HOUR;
    for (const source of ['a', 'b', 'c', 'd', 'e']) {
      for (let failure = 0; failure < 2; failure++) now = account.attempt(source, now, 'failed');
    }
    const last = now;
    expect(account.wait('owner', last)).toBe(MINUTE);
    now = account.attempt('a', last + MINUTE, 'failed');
    expect(account.wait('owner', now)).toBe(0);

    while (now < last + 30 * HOUR) {
      now = account.attempt('a', now + MINUTE, outcome);
      expect(account.wait('owner', now)).toBe(0);
    }
    // The account's failures are forgotten meanwhile: the owner's third one waits as the third.
    for (let failure = 0; failure < 3; failure++) now = account.attempt('owner', now, 'failed');
    expect(account.wait('visitor', now)).toBe(0);
    expect(account.wait('owner', now)).toBe(SECOND);
  },
);

test('an attempt that is taken back leaves the wait that a later failure caused', () => {
  const source: Failures = { ...NO_FAILURES, failures: 4, lastFailureAt: HOUR, allowedAt: HOUR + 2 * SECOND };
  const started = HOUR + 2 * SECOND;
  const first = countAttempt({ account: NO_FAILURES, pair: NO_FAILURES, source }, started);
  if ('wait' in first) throw new Error('refused');
  const later = started + 4 * SECOND;
  const second = countAttempt(
    { account: NO_FAILURES, pair: NO_FAILURES, source: first.counted.source },
    later,
  );
  if ('wait' in second) throw new Error('refused');
  const left = takeBack({ ...first.counted, source: second.counted.source }, started);
  expect(left.source).toMatchObject({ failures: 5, allowedAt: later + 4 * SECOND });
  expect(left.account).toMatchObject({ failures: 0, allowedAt: started, evaluatingUntil: 0 });
});

test('an attempt that is taken back after its limit leaves the account to the one that follows it', () => {
  const first = countAttempt({ account: NO_FAILURES, pair: NO_FAILURES, source: NO_FAILURES }, HOUR);
  if ('wait' in first) throw new Error('refused');
  const next = HOUR + EVALUATION_LIMIT;
  const second = countAttempt({ ...first.counted, pair: NO_FAILURES, source: NO_FAILURES }, next);
  if ('wait' in second) throw new Error('refused');
  const left = takeBack({ ...first.counted, account: second.counted.account }, HOUR);
  expect(left.account.evaluatingUntil).toBe(next + EVALUATION_LIMIT);
});

test('a second attempt on an account waits while the first is evaluated, and for 15 s at most', () => {
  const first = countAttempt({ account: NO_FAILURES, pair: NO_FAILURES, source: NO_FAILURES }, HOUR);
  if ('wait' in first) throw new Error('refused');
  const other = { ...first.counted, pair: NO_FAILURES, source: NO_FAILURES };
  expect(countAttempt(other, HOUR)).toEqual({ wait: SECOND });
  expect(countAttempt(other, HOUR + EVALUATION_LIMIT - 1)).toEqual({ wait: SECOND });
  expect(countAttempt(other, HOUR + EVALUATION_LIMIT)).toHaveProperty('counted');
});
