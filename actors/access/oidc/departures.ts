/** Sends people to the provider: to sign in, or to link their account (access §6.3, §6.5). */
import { createHash } from 'node:crypto';
import { type Clock, MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Opener } from '../../../runtime/secrets/open-secret.ts';
import { openProvider } from './open.ts';
import type { OidcRequest, OidcStores } from './ports.ts';
import type { Provider } from './provider.ts';

const RANDOM_BYTES = 32;
const REQUEST_LIFETIME: Micros = 10 * MINUTE;

export interface DepartureDeps {
  readonly stores: Pick<OidcStores, 'settings' | 'requests'>;
  readonly provider: Pick<Provider, 'authorizationUrl'>;
  readonly opener: Opener;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
  /** Registered with the provider. */
  readonly redirectUri: string;
}

export type Departure =
  | {
      readonly outcome: 'sent';
      readonly url: URL;
      /** The browser brings it back, in the answer and in a cookie. */
      readonly state: string;
      readonly expiresAt: Micros;
    }
  | { readonly outcome: 'not_enabled' | 'too_many' | 'unreachable' };

export async function depart(
  deps: DepartureDeps,
  { link, returnTo }: Pick<OidcRequest, 'link' | 'returnTo'>,
): Promise<Departure> {
  const { stores, provider, clock } = deps;
  const settings = await stores.settings.read();
  if (!settings.fields.enabled) return { outcome: 'not_enabled' };
  const access = openProvider(deps.opener, settings);
  if (access === null) return { outcome: 'unreachable' };

  const [state, nonce, verifier] = [fresh(deps), fresh(deps), fresh(deps)];
  const { redirectUri } = deps;
  const url = await provider.authorizationUrl(access, { redirectUri, state, nonce, verifier });
  if (!url.ok) {
    deps.log('oidc_sign_in_failed', { reason: 'idp_error', error: url.error });
    return { outcome: 'unreachable' };
  }
  const now = clock.now();
  const expiresAt = now + REQUEST_LIFETIME;
  const request = { stateHash: stateHash(state), nonce, returnTo, link, expiresAt };
  const isOpen = await stores.requests.open(request, verifier, now);
  return isOpen ? { outcome: 'sent', url: url.value, state, expiresAt } : { outcome: 'too_many' };
}

/** What is stored of the state that a browser carries. */
export function stateHash(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}

function fresh({ random }: DepartureDeps): string {
  return Buffer.from(random(RANDOM_BYTES)).toString('base64url');
}
