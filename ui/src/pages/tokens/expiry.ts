/** When tokens end: a new one as people choose it, all of an account by themselves. */
import type { Organization, User } from '../../api/shapes.ts';
import { fromZoned } from '../../time/zoned.ts';

export const EXPIRIES = ['30', '90', '365', 'date', 'never'] as const;
export type Expiry = (typeof EXPIRIES)[number];

const DAY_MS = 86_400_000;

/** @param date `YYYY-MM-DD`: the token ends as the day begins. @returns null for never, `invalid` for no date */
export function expiresAt(
  expiry: Expiry,
  date: string,
  now: number,
  zone: string,
): string | null | 'invalid' {
  if (expiry === 'never') return null;
  if (expiry !== 'date') return new Date(now + Number(expiry) * DAY_MS).toISOString();
  const at = date === '' ? null : fromZoned(`${date}T00:00`, zone);
  return at === null ? 'invalid' : new Date(at).toISOString();
}

/**
 * When the tokens of an account stop by themselves, in ms since the epoch: where its provider cannot be asked about
 * it, at the end of the grace after the last sign-in. Null: they go on, as far as is known.
 */
export function worksUntil(
  user: Pick<User, 'sign_in_method' | 'oidc_offline_access' | 'last_sign_in_at'>,
  organization: Pick<Organization, 'oidc_token_grace_seconds'> | null,
): number | null {
  const grace = organization?.oidc_token_grace_seconds;
  if (user.sign_in_method !== 'oidc' || user.oidc_offline_access) return null;
  if (grace === undefined || user.last_sign_in_at === null) return null;
  return Date.parse(user.last_sign_in_at) + grace * 1_000;
}
