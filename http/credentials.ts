/** Who is calling: the owner of the API token, or the session behind the cookie (api §1.9). */
import type { AccessStore } from '../actors/access/ports.ts';
import { policyCovers } from '../actors/access/second-factor.ts';
import { needsTouch, type SessionWithUser, sessionHash, sessionStanding } from '../actors/access/session.ts';
import type { Micros } from '../runtime/clock.ts';
import { clearedSessionCookie, readSessionCookie, sessionBytes } from './cookies.ts';
import type { Request } from './exchange.ts';
import type { Identity } from './operation.ts';
import { type Permission, ROLE_PERMISSIONS } from './permissions.ts';
import type { Problem } from './problem.ts';
import { type TokenCredentialsDeps, tokenCredentials } from './token-credentials.ts';

/** Makes and checks the token that proves that a mutation comes from our own pages. */
export interface CsrfTokens {
  /** @param session the 32 bytes behind the cookie */
  issue(session: Uint8Array): string;
  verify(session: Uint8Array, token: string): boolean;
}

export type Credentials =
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

/** 401 for a cookie that is worth nothing any more; the browser forgets it. */
function cookieProblem(code: string | undefined): Problem {
  return {
    status: 401,
    type: 'unauthenticated',
    detail: 'Your session has ended. Sign in again.',
    ...(code === undefined ? {} : { code }),
    headers: { 'Set-Cookie': clearedSessionCookie() },
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
