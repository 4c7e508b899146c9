import { expect, test } from 'vitest';
import { expiresAt, worksUntil } from './expiry.ts';

const NOW = Date.parse('2026-10-03T09:41:07Z');

test.each([
  ['30', '', '2026-11-02T09:41:07.000Z'],
  ['365', '', '2027-10-03T09:41:07.000Z'],
  ['never', '2026-12-01', null],
  ['date', '2026-12-01', '2026-11-30T23:00:00.000Z'],
  ['date', '', 'invalid'],
] as const)('%s with the date %j ends at %s', (expiry, date, at) => {
  expect(expiresAt(expiry, date, NOW, 'Europe/Berlin')).toBe(at);
});

const AT = '2026-03-01T00:00:00Z';
const oidc = { sign_in_method: 'oidc', oidc_offline_access: false, last_sign_in_at: AT } as const;
const organization = { oidc_token_grace_seconds: 60 };

test('tokens of somebody whose provider cannot be asked end some time after the last sign-in', () => {
  expect(worksUntil(oidc, organization)).toBe(Date.parse('2026-03-01T00:01:00Z'));
});

test.each([
  ['the provider can be asked', { ...oidc, oidc_offline_access: true }, organization],
  ['the account is local', { ...oidc, sign_in_method: 'local' as const }, organization],
  ['nobody signed in yet', { ...oidc, last_sign_in_at: null }, organization],
  ['the grace is not known', oidc, null],
])('they have no end of their own where %s', (_, user, known) => {
  expect(worksUntil(user, known)).toBeNull();
});
