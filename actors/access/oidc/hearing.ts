/** What the provider says of whoever comes back from it (access §6.4 steps 4 to 8). */
import { equalSecrets } from '../../../runtime/secrets/constant-time.ts';
import { type Opener, openSecret } from '../../../runtime/secrets/open-secret.ts';
import { type Claims, groupsOf } from './claims.ts';
import { openProvider } from './open.ts';
import type { OidcSettingsStore, TakenRequest } from './ports.ts';
import type { Provider, Vouched } from './provider.ts';
import type { ProviderAccess } from './provider-fetch.ts';
import type { StoredOidcSettings } from './settings.ts';

export interface Heard {
  readonly vouched: Vouched;
  /** Those of the ID token, and of the userinfo endpoint where it was asked. */
  readonly claims: Claims;
  readonly groups: readonly string[];
}

export interface Unheard {
  readonly error: 'idp_error' | 'invalid_request';
  readonly why: string;
}

export interface HearingDeps {
  readonly settings: Pick<OidcSettingsStore, 'sawGroups'>;
  readonly provider: Pick<Provider, 'exchange' | 'userInfo'>;
  readonly opener: Opener;
  readonly redirectUri: string;
}

/** What the browser brings back of it. */
export interface Message {
  readonly code: string | null;
  readonly error: string | null;
  readonly iss: string | null;
}

/** The first step that fails is told. */
export async function hear(
  deps: HearingDeps,
  { error, code, iss }: Message,
  request: TakenRequest,
  settings: StoredOidcSettings,
): Promise<Heard | Unheard> {
  if (error !== null) return unheard('idp_error', `the provider answered ${error.slice(0, 200)}`);
  if (code === null) return unheard('invalid_request', 'the provider sent no code');
  const access = openProvider(deps.opener, settings);
  const verifier = verifierOf(deps.opener, request);
  if (access === null || verifier === null) return unheard('idp_error', 'secret_unreadable');

  const { redirectUri } = deps;
  const vouched = await deps.provider.exchange(access, { code, iss }, { redirectUri, verifier });
  if (!vouched.ok) return unheard('idp_error', vouched.error);
  if (!isNonce(vouched.value.claims.nonce, request.nonce)) {
    return unheard('invalid_request', 'the ID token is not of this sign-in');
  }
  return withGroups(deps, access, settings, vouched.value);
}

/** From the ID token, else from the userinfo endpoint; in neither, nobody is in any group. */
async function withGroups(
  { provider, settings }: HearingDeps,
  access: ProviderAccess,
  { fields, version }: StoredOidcSettings,
  vouched: Vouched,
): Promise<Heard | Unheard> {
  const { groups_claim: claim } = fields;
  const saw = (isMissing: boolean) => settings.sawGroups(version, isMissing);
  const own = groupsOf(vouched.claims, claim);
  if (own !== null) {
    await saw(false);
    return { vouched, claims: vouched.claims, groups: own };
  }
  const asked = await provider.userInfo(access, vouched);
  if (!asked.ok) return unheard('idp_error', asked.error);
  const groups = groupsOf(asked.value, claim);
  await saw(groups === null);
  return { vouched, claims: { ...asked.value, ...vouched.claims }, groups: groups ?? [] };
}

function unheard(error: Unheard['error'], why: string): Unheard {
  return { error, why };
}

function verifierOf(opener: Opener, { verifier, stateHash: hash }: TakenRequest): string | null {
  const owner = Buffer.from(hash).toString('hex');
  return verifier && openSecret(opener, 'oidc.pkce_verifier', owner, verifier);
}

function isNonce(claimed: unknown, nonce: string): boolean {
  return typeof claimed === 'string' && equalSecrets(claimed, nonce);
}
