import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { plainPasswords } from '../../test/fakes/access-store.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { createPasswords, type Passwords } from './passwords.ts';
import {
  hashRecoveryCodes,
  newRecoveryCodes,
  policyCovers,
  proofByRecoveryCode,
  type SecondFactor,
} from './second-factor.ts';

const LOCAL = { hasPassword: true };
const OIDC = { hasPassword: false };

test.each([
  ['nobody', LOCAL, false],
  ['nobody', OIDC, false],
  ['local_users', LOCAL, true],
  ['local_users', OIDC, false],
  ['everyone', LOCAL, true],
  ['everyone', OIDC, true],
] as const)('the policy %s for %o: %s', (policy, account, covered) => {
  expect(policyCovers(policy, account)).toBe(covered);
});

describe('recovery codes', () => {
  const factor = (recoveryCodes: readonly string[]): SecondFactor => ({
    seed: Buffer.alloc(20),
    enrolledAt: 1,
    lastStep: null,
    recoveryCodes,
  });

  test('are ten, all different, of the alphabet without i, l, o and u', () => {
    const codes = newRecoveryCodes(randomBytes);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
  });

  test('come from the source of chance byte by byte, and are kept as argon2id, each with a salt of its own', async () => {
    const drawn: number[] = [];
    const codes = newRecoveryCodes((size) => {
      const bytes = randomBytes(size);
      drawn.push(...bytes);
      return bytes;
    });
    const letters = '0123456789abcdefghjkmnpqrstvwxyz';
    const text = codes.join('').replaceAll('-', '');
    expect(drawn.map((byte) => letters[byte % 32]).join('')).toBe(text);
    const passwords = createPasswords(createManualClock());
    const hashes = await hashRecoveryCodes(passwords, ['abcde-12345', 'abcde-12345']);
    for (const hash of hashes) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$/);
    expect(new Set(hashes).size).toBe(2);
  });

  test.each(['abcde-12345', 'ABCDE-12345', ' abcde 12345 ', 'abcde12345'])(
    'are read as %s',
    async (typed) => {
      const [hash = ''] = await hashRecoveryCodes(plainPasswords, ['abcde-12345']);
      const proof = await proofByRecoveryCode(plainPasswords, factor([hash]), typed);
      expect(proof).toEqual({ kind: 'recovery_code', hash });
    },
  );

  test.each([
    ['nobody who has any', null, 'abcde-12345'],
    ['all that are used', factor([]), 'abcde-12345'],
    ['a right one among others', factor(['aaaaa11111', 'abcde12345', 'bbbbb22222']), 'abcde-12345'],
    ['a wrong one', factor(['aaaaa11111']), 'abcde-12345'],
  ])('cost ten comparisons: %s', async (_, given, typed) => {
    let checks = 0;
    const counting: Passwords = {
      ...plainPasswords,
      check: (stored, password) => {
        checks++;
        return plainPasswords.check(stored, password);
      },
    };
    await proofByRecoveryCode(counting, given, typed);
    expect(checks).toBe(10);
  });
});
