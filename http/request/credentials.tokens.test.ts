import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FoundToken } from '../../actors/access/api-tokens.ts';
import type { User } from '../../actors/access/user.ts';
import { SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { PERMISSIONS, ROLE_PERMISSIONS, ROLES } from '../permissions.ts';
import { createTokenPace, tokenPermissions } from './credentials.ts';

const aRole = fc.constantFrom(...ROLES);
const somePermissions = fc.subarray([...PERMISSIONS]);
const token = (permissions: readonly string[] | null): FoundToken['token'] => ({
  ...{ id: 'PT000000000001' as PublicId, name: 'ci', permissions, expiresAt: null },
});

test('a Personal access token never gives more than its owner holds now, whatever it was made with', () => {
  fc.assert(
    fc.property(aRole, somePermissions, (role, permissions) => {
      const owner = { kind: 'user', user: { role } as User } as const;
      const given = tokenPermissions({ token: token(permissions), owner });
      const held = ROLE_PERMISSIONS[role];
      expect([...given].every((one) => held.has(one) && permissions.includes(one))).toBe(true);
      expect(permissions.every((one) => !held.has(one) || given.has(one))).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('Permissions that this build does not know give nothing', () => {
  const owner = { kind: 'user', user: { role: 'admin' } as User } as const;
  expect([...tokenPermissions({ token: token(['alerts:eat', 'alerts:read']), owner })]).toEqual([
    'alerts:read',
  ]);
});

test.each(ROLES)('a token of a Service account gives what the Role %s holds', (role) => {
  const owner = { kind: 'service_account', id: 'SA000000000001' as PublicId, name: 'bot', role } as const;
  const given = tokenPermissions({ token: token(null), owner: { ...owner, isActive: true } });
  expect(given).toEqual(ROLE_PERMISSIONS[role]);
});

test('a token may ask 100 times at once and 20 times a second, each for itself', () => {
  const pace = createTokenPace();
  const [one, other] = ['PT000000000001', 'PT000000000002'] as [PublicId, PublicId];
  const take = (id: PublicId, now: number, times: number) =>
    Array.from({ length: times }, () => pace.take(id, now)).filter((wait) => wait === 0).length;
  expect(take(one, 0, 150)).toBe(100);
  expect(take(other, 0, 150)).toBe(100);
  expect(pace.take(one, 0)).toBe(SECOND / 20);
  expect(take(one, SECOND, 50)).toBe(20);
  expect(take(one, 3600 * SECOND, 150)).toBe(100);
  expect(pace.take(one, 0)).toBeGreaterThan(0);
});
