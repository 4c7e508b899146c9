/** Who is calling: the owner of the API token, or the session behind the cookie (api §1.9, access §9). */
import { type ApiTokens, apiTokenHash, type FoundToken } from '../../actors/access/api-tokens.ts';
import type { AccessStore } from '../../actors/access/ports.ts';
import type { RefusedProof, RefusedProofs } from '../../actors/access/refused-proofs.ts';
import { policyCovers } from '../../actors/access/second-factor.ts';
import {
  needsTouch,
  type SessionWithUser,
  sessionHash,
  sessionStanding,
} from '../../actors/access/session.ts';
import { recheckRequired } from '../../actors/access/user.ts';
import { type Micros, SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Identity } from '../operation.ts';
import { type Permission, ROLE_PERMISSIONS } from '../permissions.ts';
import type { Problem } from '../problem.ts';
import type { ClientAddress, Request } from '../server/exchange.ts';

/** Makes and checks the token that proves that a mutation comes from our own pages. */
export interface CsrfTokens {
  /** @param session the 32 bytes behind the cookie */
  issue(session: Uint8Array): string;
  verify(session: Uint8Array, token: string): boolean;
}

type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'refused'; readonly problem: Problem }
  | {
      readonly kind: 'identity';
      readonly identity: Identity;
      /** The bytes behind the cookie, which the CSRF token is bound to; null for a token. */
      readonly session: Buffer | null;
    };

export type Authenticate = (request: Request, now: Micros) => Promise<Credentials>;

/** A Bearer header decides alone; otherwise the cookie does. A use of a session is written at most once a minute. */
export function createAuthenticate(store: SessionStore, forTokens: TokenCredentialsDeps): Authenticate {
  const { sessions } = store;
  return async (request, now) => {
    const token = bearerToken(request.header('authorization'));
    if (token !== null) return tokenCredentials(forTokens, token, request, now);
    const cookie = readSessionCookie(request.header('cookie'));
    if (cookie === null) return { kind: 'none' };
    const bytes = sessionBytes(cookie);
    const found = bytes && (await sessions.find(sessionHash(bytes)));
    if (!bytes || !found) return { kind: 'refused', problem: cookieProblem(undefined) };
    const standing = sessionStanding(found, now);
    if (standing !== 'live') {
      return { kind: 'refused', problem: cookieProblem(CODE_OF_STANDING[standing]) };
    }
    if (needsTouch(found.session, now)) await sessions.touch(found.session.id, now);
    return { kind: 'identity', identity: identityOf(await underPolicy(store, found)), session: bytes };
  };
}

type SessionStore = Pick<AccessStore, 'sessions' | 'organization'>;

/** A session that had to enrol becomes active once the policy does not ask it to any more (organization §6). */
async function underPolicy(
  { sessions, organization }: SessionStore,
  found: SessionWithUser,
): Promise<SessionWithUser> {
  const { session, user } = found;
  if (session.state !== 'totp_enrolment_required') return found;
  const { settings } = await organization.read();
  if (policyCovers(settings.totp_required, user)) return found;
  await sessions.activate(session.id);
  return { user, session: { ...session, state: 'active' } };
}

/** The token of an Authorization header with the scheme Bearer; other schemes are ignored. */
export function bearerToken(header: string | null): string | null {
  const match = header === null ? null : /^bearer(?: +(.*))?$/i.exec(header.trim());
  return match ? (match[1] ?? '') : null;
}

const CODE_OF_STANDING = {
  expired: 'session_expired',
  refused_by_provider: 'oidc_session_ended',
  ended: undefined,
} as const;

/** 401 for a cookie that is worth nothing any more. It is not cleared: another tab may have signed in meanwhile. */
function cookieProblem(code: string | undefined): Problem {
  return {
    status: 401,
    type: 'unauthenticated',
    detail: 'Your session has ended. Sign in again.',
    ...(code === undefined ? {} : { code }),
  };
}

const NOTHING: ReadonlySet<Permission> = new Set();

function identityOf({ session, user }: SessionWithUser): Identity {
  return {
    kind: 'user',
    id: user.id,
    name: user.name,
    user: { id: user.id, name: user.name, login: user.login, status: user.status, timeZone: user.timeZone },
    permissions: session.state === 'active' ? ROLE_PERMISSIONS[user.role] : NOTHING,
    transport: 'ui',
    session: { id: session.id, state: session.state },
    token: null,
  };
}

/** Caller of an API token: its owner, with the Permissions that both hold now (access §9). */
interface TokenCredentialsDeps {
  readonly tokens: ApiTokens;
  readonly pace: TokenPace;
  readonly clientAddress: ClientAddress;
  readonly refusedProofs: RefusedProofs;
}

/** Clients that say so are the command line, and are recorded as that. */
const CLIENT_HEADER = 'x-tocsin-client';

/** Judges the token of a Bearer header: what it is worth first, how fast it asks second. */
async function tokenCredentials(
  { tokens, pace, clientAddress, refusedProofs }: TokenCredentialsDeps,
  value: string,
  request: Request,
  now: Micros,
): Promise<Credentials> {
  const hash = apiTokenHash(value);
  const found = hash && (await tokens.find(hash));
  const address = clientAddress(request.socketAddress, request.header('x-forwarded-for'));
  const reason = found ? tokenRefusal(found, now) : 'unknown';
  if (!found || reason !== null) {
    const resourceId = found ? found.token.id : null;
    refusedProofs.note({ kind: 'api_token', address, reason: reason ?? 'unknown', resourceId });
    return { kind: 'refused', problem: reason === 'recheck_required' ? RECHECK_REQUIRED : BAD_TOKEN };
  }
  const wait = pace.take(found.token.id, now);
  if (wait > 0) return { kind: 'refused', problem: tooFast(wait) };
  tokens.used(found.token.id, address, now);
  const transport = request.header(CLIENT_HEADER) === 'cli' ? 'cli' : 'api';
  return { kind: 'identity', identity: tokenIdentity(found, transport), session: null };
}

/** Why a token that exists is worth nothing; null when it counts. */
function tokenRefusal(
  { token, owner, graceSeconds }: FoundToken,
  now: Micros,
): RefusedProof['reason'] | null {
  if (token.expiresAt !== null && now >= token.expiresAt) return 'expired';
  const isActive = owner.kind === 'user' ? owner.user.status === 'active' : owner.isActive;
  if (!isActive) return 'owner_inactive';
  const needsProvider = owner.kind === 'user' && recheckRequired(owner.user, graceSeconds, now);
  return needsProvider ? 'recheck_required' : null;
}

/** The Permissions of a token: its own, as far as its owner's Role holds them now; a Service account's are its Role's. */
export function tokenPermissions({
  token,
  owner,
}: Pick<FoundToken, 'token' | 'owner'>): ReadonlySet<Permission> {
  const role = owner.kind === 'user' ? owner.user.role : owner.role;
  const held = ROLE_PERMISSIONS[role];
  if (token.permissions === null) return held;
  const own = new Set(token.permissions);
  return new Set([...held].filter((permission) => own.has(permission)));
}

function tokenIdentity(found: FoundToken, transport: 'api' | 'cli'): Identity {
  const { token, owner } = found;
  const common = {
    permissions: tokenPermissions(found),
    transport,
    session: null,
    token: { id: token.id, name: token.name },
  };
  if (owner.kind === 'service_account') {
    return { ...common, kind: 'service_account', id: owner.id, name: owner.name, user: null };
  }
  const { id, name, login, status, timeZone } = owner.user;
  return { ...common, kind: 'user', id, name, user: { id, name, login, status, timeZone } };
}

export const BAD_TOKEN: Problem = {
  status: 401,
  type: 'unauthenticated',
  code: 'invalid_credentials',
  detail: 'The token is not valid.',
  headers: { 'WWW-Authenticate': 'Bearer' },
};

const RECHECK_REQUIRED: Problem = {
  status: 401,
  type: 'unauthenticated',
  code: 'oidc_recheck_required',
  detail: 'The owner of the token has to sign in through the identity provider again.',
  headers: { 'WWW-Authenticate': 'Bearer' },
};

function tooFast(wait: Micros): Problem {
  return {
    status: 429,
    type: 'rate-limited',
    detail: 'This token asks too often. Wait and try again.',
    retryAfterSeconds: Math.max(1, Math.ceil(wait / SECOND)),
  };
}

/** How fast one API token may ask: 20 requests a second, 100 at once (access §9 rule 6). Each replica counts for itself. */
const PER_SECOND = 20;
const BURST = 100;
/** A token that asked for nothing in this time may ask for everything again. */
const REFILLED_AFTER: Micros = (BURST / PER_SECOND) * SECOND;
/** Beyond it, those that are full again are forgotten. */
const REMEMBERED = 10_000;

interface TokenPace {
  /** Counts one request. @returns µs to wait; 0 lets it through */
  take(token: PublicId, now: Micros): Micros;
}

export function createTokenPace(): TokenPace {
  const buckets = new Map<PublicId, { left: number; at: Micros }>();

  const forgetFull = (now: Micros) => {
    for (const [token, { at }] of buckets) if (now - at >= REFILLED_AFTER) buckets.delete(token);
  };

  return {
    take(token, now) {
      const known = buckets.get(token) ?? { left: BURST, at: now };
      const passed = Math.max(0, now - known.at) / SECOND;
      const left = Math.min(BURST, known.left + passed * PER_SECOND);
      const isLet = left >= 1;
      buckets.set(token, { left: isLet ? left - 1 : left, at: now });
      if (buckets.size > REMEMBERED) forgetFull(now);
      return isLet ? 0 : ((1 - left) / PER_SECOND) * SECOND;
    },
  };
}

/**
 * The session cookie (access §3): HttpOnly, Secure, SameSite=Lax, gone with the browser. And the one that binds a sign-in
 * through the identity provider to the browser in which it began (access §6.3).
 */

export const SESSION_COOKIE = 'svc_session';

const ATTRIBUTES = 'HttpOnly; Secure; SameSite=Lax; Path=/';
const VALUE = /^[A-Za-z0-9_-]{43}$/;

export function sessionCookie(value: string): string {
  return `${SESSION_COOKIE}=${value}; ${ATTRIBUTES}`;
}

/** Makes the browser forget the cookie. */
export function clearedSessionCookie(): string {
  return `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
}

/** The session cookie's value in a Cookie header; null when there is none. */
export function readSessionCookie(header: string | null): string | null {
  return readCookie(header, SESSION_COOKIE);
}

const STATE_COOKIE = 'svc_oidc_state';
const STATE_ATTRIBUTES = 'HttpOnly; Secure; SameSite=Lax; Path=/api/v1/';
const STATE_SECONDS = 600;

export function stateCookie(state: string): string {
  return `${STATE_COOKIE}=${state}; ${STATE_ATTRIBUTES}; Max-Age=${STATE_SECONDS}`;
}

export function clearedStateCookie(): string {
  return `${STATE_COOKIE}=; ${STATE_ATTRIBUTES}; Max-Age=0`;
}

export function readStateCookie(header: string | null): string | null {
  return readCookie(header, STATE_COOKIE);
}

/** The first of several counts. */
function readCookie(header: string | null, name: string): string | null {
  if (header === null) return null;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    return pair.slice(equals + 1).trim();
  }
  return null;
}

/** The 32 bytes behind a cookie's value; null when it is not one that this service makes. */
export function sessionBytes(value: string): Buffer | null {
  return VALUE.test(value) ? Buffer.from(value, 'base64url') : null;
}
