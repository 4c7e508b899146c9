/** Sends people to the provider and takes them back, to sign in or to link their account (access §6.3 to §6.5). */
import { createHash } from 'node:crypto';
import { type Clock, MINUTE, type Micros } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { equalSecrets, type Opener } from '../../../runtime/secrets/keyring.ts';
import type { StoredOrganization } from '../organization.ts';
import type { Organizations, Sessions } from '../ports.ts';
import { policyCovers } from '../second-factor.ts';
import {
  providerSessionLifetime,
  type Session,
  type SessionState,
  type SessionWithUser,
  sessionHash,
  sessionStanding,
} from '../session.ts';
import { sourceKey } from '../throttle.ts';
import type { User } from '../user.ts';
import { assertsMultiFactor, personOf } from './claims.ts';
import type {
  LinkRefusal,
  OidcRequest,
  OidcStores,
  ProviderWord,
  SignInRefusal,
  TakenRequest,
} from './ports.ts';
import type { Provider, Vouched } from './provider.ts';
import { openProvider } from './provider-access.ts';
import { type Heard, hear, linkRefused, signInRefused } from './provider-answer.ts';
import { displayName, roleOf, type StoredOidcSettings } from './settings.ts';

const COOKIE_BYTES = 32;

export type ReturnError = 'invalid_request' | 'oidc_disabled' | 'idp_error' | SignInRefusal | LinkRefusal;

interface ReturnDeps {
  readonly stores: OidcStores;
  readonly provider: Pick<Provider, 'exchange' | 'userInfo'>;
  readonly sessions: Pick<Sessions, 'find'>;
  readonly organization: Organizations;
  readonly opener: Opener;
  readonly random: (size: number) => Uint8Array;
  readonly log: Log;
  readonly redirectUri: string;
}

/** What the browser brings back. */
interface Returned {
  readonly state: string | null;
  readonly code: string | null;
  readonly error: string | null;
  readonly iss: string | null;
  /** The state as its cookie has it. */
  readonly stateCookie: string | null;
  /** The bytes behind its session's cookie. */
  readonly session: Buffer | null;
  readonly address: string;
  readonly userAgent: string | null;
  readonly now: Micros;
}

export type Arrival =
  | { readonly outcome: 'signed_in'; readonly returnTo: string; readonly session: Buffer }
  | { readonly outcome: 'linked' }
  | { readonly outcome: 'failed'; readonly of: 'sign_in' | 'link'; readonly error: ReturnError };

async function arrive(deps: ReturnDeps, returned: Returned): Promise<Arrival> {
  const request = await takeRequest(deps, returned);
  const linking = request?.link ? await linkingSession(deps, returned, request.link) : null;
  const failed = async (error: ReturnError, why: string, known = NOBODY): Promise<Arrival> => {
    deps.log('oidc_sign_in_failed', { reason: error, error: why });
    const entry = linking
      ? linkRefused(linking.user, returned, error, known.groups)
      : signInRefused(known.login, returned, error, known.groups);
    await deps.stores.identities.record(entry);
    return { outcome: 'failed', of: request?.link ? 'link' : 'sign_in', error };
  };
  if (request === null) return failed('invalid_request', 'the state is not of a sign-in under way');
  if (request.link && !linking) return failed('invalid_request', 'the session that began the link is gone');
  const settings = await deps.stores.settings.read();
  if (!settings.fields.enabled) return failed('oidc_disabled', 'single sign-on is off');

  const heard = await hear({ ...deps, settings: deps.stores.settings }, returned, request, settings);
  if ('error' in heard) return failed(heard.error, heard.why);
  const { login } = personOf(heard.claims, heard.vouched.subject);
  const known = { login, groups: heard.groups };
  if (linking) {
    const outcome = await link(deps, returned, linking, settings, heard);
    return outcome === 'linked' ? { outcome } : failed(outcome, 'the account cannot be linked', known);
  }
  const session = Buffer.from(deps.random(COOKIE_BYTES));
  const outcome = await signIn(deps, returned, session, settings, heard);
  if (outcome === 'signed_in') return { outcome, returnTo: request.returnTo, session };
  return failed(outcome, `refused as ${login}`, known);
}

/** Whom the provider has not vouched for. */
const NOBODY: { readonly login: string | null; readonly groups: readonly string[] } = {
  login: null,
  groups: [],
};

/** Steps 1 and 2. Once the browser has shown that the state is its own, the request is used up. */
async function takeRequest(
  { stores }: ReturnDeps,
  { state, stateCookie, now }: Returned,
): Promise<TakenRequest | null> {
  if (state === null || stateCookie === null || !equalSecrets(state, stateCookie)) return null;
  const request = await stores.requests.take(stateHash(state));
  return request !== null && request.expiresAt > now ? request : null;
}

/** Whoever links comes back in the session in which it began. */
async function linkingSession(
  { sessions }: ReturnDeps,
  { session, now }: Returned,
  link: NonNullable<TakenRequest['link']>,
): Promise<SessionWithUser | null> {
  const found = session && (await sessions.find(sessionHash(session)));
  if (!found || found.session.id !== link.sessionId || found.user.id !== link.userId) return null;
  return found.session.state === 'active' && sessionStanding(found, now) === 'live' ? found : null;
}

function wordOf(
  { fields }: StoredOidcSettings,
  { vouched, groups }: Heard,
  { now, address }: Returned,
): ProviderWord {
  const { issuer, subject, offlineToken } = vouched;
  return {
    identity: { issuer, subject },
    role: roleOf(fields, groups),
    syncsRole: fields.sync_role,
    offlineToken,
    at: now,
    address,
  };
}

function link(
  { stores }: ReturnDeps,
  returned: Returned,
  { user, session }: SessionWithUser,
  settings: StoredOidcSettings,
  heard: Heard,
): Promise<'linked' | LinkRefusal> {
  const word = wordOf(settings, heard, returned);
  return stores.identities.link({ ...word, userId: user.id, sessionId: session.id });
}

async function signIn(
  { stores, organization }: ReturnDeps,
  returned: Returned,
  bytes: Buffer,
  settings: StoredOidcSettings,
  heard: Heard,
): Promise<'signed_in' | SignInRefusal> {
  const { totp_required: policy } = (await organization.read()).settings;
  const { vouched, claims } = heard;
  const skips = settings.fields.skip_totp_with_idp_mfa && assertsMultiFactor(vouched.claims);
  return stores.identities.signIn({
    ...wordOf(settings, heard, returned),
    person: personOf(claims, vouched.subject),
    session: (user) => newSession(user, stateOf(user, policy, skips), vouched, returned.now),
    hash: sessionHash(bytes),
    userAgent: returned.userAgent,
    replaces: returned.session && sessionHash(returned.session),
  });
}

/** A second factor at the provider may stand for the one here; it never spares anybody to set one up. */
function stateOf(user: User, policy: StoredOrganization['totp_required'], skips: boolean): SessionState {
  if (user.totpEnabled) return skips ? 'active' : 'totp_required';
  return policyCovers(policy, user) ? 'totp_enrolment_required' : 'active';
}

function newSession(user: User, state: SessionState, { offlineToken }: Vouched, now: Micros): Session {
  return {
    id: newPublicId('SN'),
    userId: user.id,
    state,
    method: 'oidc',
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + providerSessionLifetime(offlineToken !== null),
    endedAt: null,
    endReason: null,
  };
}

/** Where a browser is sent after a sign-in: always a page of this service (access §6.3). */

const MOST_CHARACTERS = 2_000;
const FORBIDDEN = /[\\\p{Cc}]/u;

/** The path as it may stand in a Location header; `/` in the place of anything that leads elsewhere. */
export function returnPath(wanted: string | null): string {
  if (wanted === null || !isOurs(wanted)) return '/';
  return wanted.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}

function isOurs(path: string): boolean {
  if (!path.startsWith('/') || path.startsWith('//') || path.length > MOST_CHARACTERS) return false;
  return !FORBIDDEN.test(path);
}

/** Single sign-on as HTTP sees it. */
export interface SingleSignOn {
  /** What the button to sign in says; null while there is none. */
  buttonName(): Promise<string | null>;
  /** Sends somebody to the provider. */
  depart(leaving: Leaving): Promise<Departure>;
  /** Takes whoever comes back. */
  arrive(returned: Returned): Promise<Arrival>;
}

export function createSingleSignOn(deps: DepartureDeps & ReturnDeps): SingleSignOn {
  return {
    async buttonName() {
      const { fields } = await deps.stores.settings.read();
      return fields.enabled ? displayName(fields) : null;
    },
    depart: (leaving) => depart(deps, leaving),
    arrive: (returned) => arrive(deps, returned),
  };
}

/** Sends people to the provider: to sign in, or to link their account (access §6.3, §6.5). */
const RANDOM_BYTES = 32;
const REQUEST_LIFETIME: Micros = 10 * MINUTE;

interface DepartureDeps {
  readonly stores: Pick<OidcStores, 'settings' | 'requests'>;
  readonly provider: Pick<Provider, 'authorizationUrl'>;
  readonly opener: Opener;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
  /** Registered with the provider. */
  readonly redirectUri: string;
}

type Departure =
  | {
      readonly outcome: 'sent';
      readonly url: URL;
      /** The browser brings it back, in the answer and in a cookie. */
      readonly state: string;
      readonly expiresAt: Micros;
    }
  | { readonly outcome: 'not_enabled' | 'unreachable' };

/** Who goes to the provider, and comes back where. */
interface Leaving extends Pick<OidcRequest, 'link' | 'returnTo'> {
  readonly address: string;
}

async function depart(deps: DepartureDeps, { link, returnTo, address }: Leaving): Promise<Departure> {
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
  const expiresAt = clock.now() + REQUEST_LIFETIME;
  const source = link ? `user/${link.userId}` : sourceKey(address);
  const request = { stateHash: stateHash(state), nonce, returnTo, link, expiresAt, source };
  await stores.requests.open(request, verifier);
  return { outcome: 'sent', url: url.value, state, expiresAt };
}

/** What is stored of the state that a browser carries. */
function stateHash(state: string): Buffer {
  return createHash('sha256').update(state).digest();
}

function fresh({ random }: DepartureDeps): string {
  return Buffer.from(random(RANDOM_BYTES)).toString('base64url');
}
