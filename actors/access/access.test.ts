import { describe, expect, test } from 'vitest';
import { SECOND } from '../../runtime/clock.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { createPasswords, HashQueueFullError, hashesBeside, passwordFault } from './passwords.ts';
import { accountKey, sourceKey, waitAfter } from './throttle.ts';

describe('the password rule', () => {
  test.each([
    ['x'.repeat(11), 'too_short'],
    ['x'.repeat(12), null],
    ['😀'.repeat(11), 'too_short'],
    ['😀'.repeat(12), null],
    [' '.repeat(12), null],
    ['x'.repeat(1_024), null],
    ['x'.repeat(1_025), 'too_long'],
  ])('counts code points: %#', (password, fault) => {
    expect(passwordFault(password)).toBe(fault);
  });
});

describe('the throttle', () => {
  test('waits nothing at first, then doubles to a minute', () => {
    const failures = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100];
    expect(failures.map((count) => waitAfter(count) / SECOND)).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('knows an account in any case and keeps no login', () => {
    expect(accountKey('Ada')).toBe(accountKey('aDA'));
    expect(accountKey('Ada')).toMatch(/^account\/[\w-]{43}$/);
  });

  test.each([
    ['192.0.2.1', '192.0.2.1', true],
    ['192.0.2.1', '192.0.2.2', false],
    ['::ffff:192.0.2.1', '192.0.2.1', true],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ])('%s and %s are one source: %s', (left, right, same) => {
    expect(sourceKey(left) === sourceKey(right)).toBe(same);
  });
});

describe('password hashes', () => {
  const clock = createManualClock();

  test('are argon2id with the documented parameters and verify', async () => {
    const passwords = createPasswords(clock);
    const stored = await passwords.hash('correct horse battery');
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(await passwords.hash('correct horse battery')).not.toBe(stored);
    expect(await passwords.check(stored, 'correct horse battery')).toBe('right');
    expect(await passwords.check(stored, 'correct horse')).toBe('wrong');
  });

  test('of other parameters verify once and ask to be replaced; costly or foreign ones do not count', async () => {
    const passwords = createPasswords(clock);
    const cheap =
      '$argon2id$v=19$m=1024,t=1,p=1$WBhdLKJuc5Q+rn7OeMruvQ$CMhRrMHcGjqDKsqIK96uorO7p/rjAh+VkkdYBbjU6YA';
    expect(await passwords.check(cheap, 'password')).toBe('right_but_rehash');
    expect(await passwords.check(cheap, 'other')).toBe('wrong');
    for (const unusable of [null, '', '$2b$10$x', '$argon2id$v=19$m=999999,t=2,p=1$YQ$YQ']) {
      expect(await passwords.check(unusable, 'password')).toBe('wrong');
    }
  });

  test.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [64, 2],
  ])('on %i processors run %i at once', (processors, atOnce) => {
    expect(hashesBeside(processors)).toBe(atOnce);
  });

  test('of one source do not keep those of another waiting', async () => {
    const passwords = createPasswords(createManualClock(), 1);
    const done: string[] = [];
    const ask = async (source: string) => {
      await passwords.check(null, 'x', source);
      done.push(source);
    };
    await Promise.all(['many', 'many', 'many', 'many', 'one', 'two', 'one'].map(ask));
    expect(done).toEqual(['many', 'many', 'one', 'two', 'many', 'one', 'many']);
  });

  test('wait for a turn for 5 s at most', async () => {
    const waiting = createManualClock();
    const passwords = createPasswords(waiting, 2);
    const all = Promise.allSettled(Array.from({ length: 4 }, () => passwords.hash('x')));
    waiting.advance(5 * SECOND);
    const outcomes = await all;
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'rejected']);
    expect(outcomes[2]).toMatchObject({ reason: expect.any(HashQueueFullError) });
    expect(await passwords.hash('x')).toContain('$argon2id$');
  });
});
