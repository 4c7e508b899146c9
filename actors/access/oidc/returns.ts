/**
 * People come back from the provider (access §6.4): the first step that fails decides what they are told, and whoever
 * passes them all is signed in or linked, in one transaction.
 */
import type { Micros } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { equalSecrets } from '../../../runtime/secrets/constant-time.ts';
import type { Opener } from '../../../runtime/secrets/open-secret.ts';
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
import type { User } from '../user.ts';
import { assertsMultiFactor, personOf } from './claims.ts';
import { stateHash } from './departures.ts';
import { type Heard, hear } from './hearing.ts';
import type { LinkRefusal, OidcStores, ProviderWord, SignInRefusal, TakenRequest } from './ports.ts';
import type { Provider, Vouched } from './provider.ts';
import { linkRefused, signInRefused } from './refusals.ts';
import { roleOf } from './roles.ts';
import type { StoredOidcSettings } from './settings.ts';

const COOKIE_BYTES = 32;

export type ReturnError = 'invalid_request' | 'oidc_disabled' | 'idp_error' | SignInRefusal | LinkRefusal;

export interface ReturnDeps {
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
export interface Returned {
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

export async function arrive(deps: ReturnDeps, returned: Returned): Promise<Arrival> {
  const request = await takeRequest(deps, returned);
  const failed = (error: ReturnError, why: string): Arrival => {
    deps.log('oidc_sign_in_failed', { reason: error, error: why });
    return { outcome: 'failed', of: request?.link ? 'link' : 'sign_in', error };
  };
  if (request === null) return failed('invalid_request', 'the state is not of a sign-in under way');

  const linking = request.link && (await linkingSession(deps, returned, request.link));
  if (request.link && !linking) return failed('invalid_request', 'the session that began the link is gone');
  const settings = await deps.stores.settings.read();
  if (!settings.fields.enabled) return failed('oidc_disabled', 'single sign-on is off');

  const heard = await hear({ ...deps, settings: deps.stores.settings }, returned, request, settings);
  if ('error' in heard) return failed(heard.error, heard.why);
  if (linking) {
    const outcome = await link(deps, returned, linking, settings, heard);
    if (outcome === 'linked') return { outcome };
    await deps.stores.identities.record(linkRefused(linking.user, returned, outcome, heard.groups));
    return failed(outcome, 'the account cannot be linked');
  }
  const session = Buffer.from(deps.random(COOKIE_BYTES));
  const outcome = await signIn(deps, returned, session, settings, heard);
  if (outcome === 'signed_in') return { outcome, returnTo: request.returnTo, session };
  const { login } = personOf(heard.claims, heard.vouched.subject);
  await deps.stores.identities.record(signInRefused(login, returned, outcome, heard.groups));
  return failed(outcome, `refused as ${login}`);
}

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
