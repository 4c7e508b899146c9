/** Whether Personal access tokens of somebody who signs in through a provider still work (access §6.6 rule 7). */
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import type { User } from '../user.ts';

/** Whether the user has to sign in through the provider before the tokens work again. */
export function recheckRequired({ oidc }: Pick<User, 'oidc'>, graceSeconds: number, now: Micros): boolean {
  if (oidc === null) return false;
  if (oidc.isRefused) return true;
  return !oidc.hasOfflineToken && now - oidc.signedInAt > graceSeconds * SECOND;
}
