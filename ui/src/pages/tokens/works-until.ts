/** When the personal access tokens of an account stop by themselves (access §5). */
import type { Organization, User } from '../../api/shapes.ts';

/**
 * ms since the epoch: of an account that its provider cannot be asked about, the end of the grace after the last sign-in.
 * Null: they go on, as far as is known.
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
