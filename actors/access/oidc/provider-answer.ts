/** What the provider says of whoever returns, and how a refusal is recorded (access §6.4 steps 4 to 8). */
import type { Micros } from '../../../runtime/clock.ts';
import { equalSecrets, type Opener, openSecret } from '../../../runtime/secrets/keyring.ts';
import { cutToBytes } from '../../../runtime/secrets/masking.ts';
import { auditEntry } from '../../audit.ts';
import type { AuditEntry } from '../../effects.ts';
import type { User } from '../user.ts';
import { type Claims, groupsOf } from './claims.ts';
import type { OidcSettingsStore, TakenRequest } from './ports.ts';
import type { Provider, Vouched } from './provider.ts';
import { openProvider, type ProviderAccess } from './provider-access.ts';
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

/** People who came back from the provider and were refused, as the Audit log records it (access §6.4). */
const MOST_GROUPS = 100;
const GROUP_BYTES = 200;

interface Occasion {
  readonly now: Micros;
  readonly address: string;
}

/** @param login null when the provider did not vouch for anybody */
export function signInRefused(
  login: string | null,
  { now: at, address }: Occasion,
  reason: string,
  groups: readonly string[],
): AuditEntry {
  const by = { kind: 'system', id: null, name: 'system' } as const;
  const details = { reason, login, groups: shownGroups(groups) };
  const change = { action: 'session.oidc_refused', resourceId: null, resourceName: null, details };
  return auditEntry({ by, at, address }, change);
}

export function linkRefused(
  { id, name, login }: User,
  { now: at, address }: Occasion,
  reason: string,
  groups: readonly string[],
): AuditEntry {
  const by = { kind: 'user', id, name, login, tokenName: null, transport: 'ui' } as const;
  const details = { reason, groups: shownGroups(groups) };
  const change = { action: 'user.oidc_link_refused', resourceId: id, resourceName: name, details };
  return auditEntry({ by, at, address }, change);
}

function shownGroups(groups: readonly string[]): readonly string[] {
  return groups.slice(0, MOST_GROUPS).map((group) => {
    const cut = cutToBytes(storable(group), GROUP_BYTES);
    return cut.length < group.length ? `${cut}…` : cut;
  });
}

/** The database stores no U+0000, even inside JSON. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD');
}
