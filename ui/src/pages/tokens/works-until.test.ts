import { expect, it } from 'vitest';
import { worksUntil } from './works-until.ts';

const AT = '2026-03-01T00:00:00Z';
const oidc = { sign_in_method: 'oidc', oidc_offline_access: false, last_sign_in_at: AT } as const;
const organization = { oidc_token_grace_seconds: 60 };

it('tokens of somebody whose provider cannot be asked end some time after the last sign-in', () => {
  expect(worksUntil(oidc, organization)).toBe(Date.parse('2026-03-01T00:01:00Z'));
});

it.each([
  ['the provider can be asked', { ...oidc, oidc_offline_access: true }, organization],
  ['the account is local', { ...oidc, sign_in_method: 'local' as const }, organization],
  ['nobody signed in yet', { ...oidc, last_sign_in_at: null }, organization],
  ['the grace is not known', oidc, null],
])('they have no end of their own where %s', (_, user, known) => {
  expect(worksUntil(user, known)).toBeNull();
});
