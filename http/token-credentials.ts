/** Who calls with an API token: its owner, with no more than both of them may now (access §9, seed 2 §5). */
import { type ApiTokens, apiTokenHash, type FoundToken } from '../actors/access/api-tokens.ts';
import { recheckRequired } from '../actors/access/oidc/token-grace.ts';
import { type Micros, SECOND } from '../runtime/clock.ts';
import type { ClientAddress } from './address.ts';
import type { Credentials } from './credentials.ts';
import type { Request } from './exchange.ts';
import type { Identity } from './operation.ts';
import { type Permission, ROLE_PERMISSIONS } from './permissions.ts';
import type { Problem } from './problem.ts';
import type { TokenPace } from './token-pace.ts';

export interface TokenCredentialsDeps {
  readonly tokens: ApiTokens;
  readonly pace: TokenPace;
  readonly clientAddress: ClientAddress;
}

/** Clients that say so are the command line, and are recorded as that. */
const CLIENT_HEADER = 'x-tocsin-client';

/** Judges the token of a Bearer header: what it is worth first, how fast it asks second. */
export async function tokenCredentials(
  { tokens, pace, clientAddress }: TokenCredentialsDeps,
  value: string,
  request: Request,
  now: Micros,
): Promise<Credentials> {
  const hash = apiTokenHash(value);
  const found = hash && (await tokens.find(hash));
  if (!found || !isUsable(found, now)) return { kind: 'refused', problem: BAD_TOKEN };
  if (needsProvider(found, now)) return { kind: 'refused', problem: RECHECK_REQUIRED };
  const wait = pace.take(found.token.id, now);
  if (wait > 0) return { kind: 'refused', problem: tooFast(wait) };
  const address = clientAddress(request.socketAddress, request.header('x-forwarded-for'));
  tokens.used(found.token.id, address, now);
  const transport = request.header(CLIENT_HEADER) === 'cli' ? 'cli' : 'api';
  return { kind: 'identity', identity: tokenIdentity(found, transport), session: null };
}

function isUsable({ token, owner }: FoundToken, now: Micros): boolean {
  if (token.expiresAt !== null && now >= token.expiresAt) return false;
  return owner.kind === 'user' ? owner.user.status === 'active' : owner.isActive;
}

function needsProvider({ owner, graceSeconds }: FoundToken, now: Micros): boolean {
  return owner.kind === 'user' && recheckRequired(owner.user, graceSeconds, now);
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
