/** Signing in and out (api §3, access §3–4). */
import * as v from 'valibot';
import type { SingleSignOn } from '../../actors/access/oidc/single-sign-on.ts';
import type { Sessions } from '../../actors/access/ports.ts';
import { idleExpiresAt, type SessionWithUser, sessionHash } from '../../actors/access/session.ts';
import { userShape } from '../../actors/access/user.ts';
import { formatInstant } from '../../runtime/clock.ts';
import { clearedSessionCookie, sessionBytes, sessionCookie } from '../cookies.ts';
import type { CsrfTokens } from '../credentials.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { inCatalogueOrder, ROLE_PERMISSIONS } from '../permissions.ts';
import { refuse } from '../problem.ts';
import { type SignInDeps, signIn } from '../sign-in.ts';
import { answerThrottled, PROOF_REFUSALS } from '../throttled.ts';
import { SessionShape } from './user-shapes.ts';

export interface SessionDeps extends SignInDeps {
  readonly sessions: Sessions;
  readonly singleSignOn: Pick<SingleSignOn, 'buttonName'>;
  readonly csrf: CsrfTokens;
}

export function sessionOperations(deps: SessionDeps): readonly Operation[] {
  return [
    operation({
      id: 'getSignInOptions',
      method: 'GET',
      path: '/sign-in-options',
      tag: 'Sessions',
      summary: 'Read the ways to sign in',
      needs: 'none',
      answers: {
        200: {
          description: 'display_name only while sign-in through an identity provider is on',
          schema: v.object({
            oidc: v.object({ enabled: v.boolean(), display_name: v.optional(v.string()) }),
          }),
        },
      },
      async handle() {
        const name = await deps.singleSignOn.buttonName();
        const oidc = name === null ? { enabled: false } : { enabled: true, display_name: name };
        return { status: 200, body: { oidc } };
      },
    }),
    operation({
      id: 'createSession',
      method: 'POST',
      path: '/sessions',
      tag: 'Sessions',
      summary: 'Sign in with login and password',
      needs: 'none',
      body: SignInBody,
      answers: { 201: { description: 'The session; its cookie is set', schema: SessionShape } },
      refusals: PROOF_REFUSALS,
      handle: (call) => createSession(deps, call),
    }),
    operation({
      id: 'getCurrentSession',
      method: 'GET',
      path: '/sessions/current',
      tag: 'Sessions',
      summary: 'Read the current session',
      needs: 'cookie',
      answers: { 200: { description: 'The session, in any state', schema: SessionShape } },
      handle: (call) => readSession(deps, call),
    }),
    operation({
      id: 'deleteCurrentSession',
      method: 'DELETE',
      path: '/sessions/current',
      tag: 'Sessions',
      summary: 'Sign out',
      needs: 'cookie',
      answers: { 204: { description: 'The session has ended; its cookie is cleared' } },
      handle: (call) => signOut(deps, call),
    }),
  ];
}

const SignInBody = v.object({
  login: v.pipe(v.string(), v.minLength(1)),
  password: v.pipe(v.string(), v.minLength(1)),
  totp_code: v.optional(v.string()),
  recovery_code: v.optional(v.string()),
});

function createSession(
  deps: SessionDeps,
  call: Call<undefined, v.InferOutput<typeof SignInBody>>,
): Promise<Answer> {
  const { address, userAgent, now, body } = call;
  const { login, password, totp_code: totpCode = null, recovery_code: recoveryCode = null } = body;
  const cookie = call.cookie === null ? null : sessionBytes(call.cookie);
  return answerThrottled(
    () => signIn(deps, { login, password, totpCode, recoveryCode, address, userAgent, cookie, now }),
    (begun) => ({
      status: 201,
      body: sessionBody(deps.csrf, begun, begun.bytes),
      headers: { 'Set-Cookie': sessionCookie(begun.bytes.toString('base64url')) },
    }),
  );
}

/** There is no such session any more. */
export const SIGNED_OUT = refuse({
  status: 401,
  type: 'unauthenticated',
  detail: 'Your session has ended. Sign in again.',
  headers: { 'Set-Cookie': clearedSessionCookie() },
});

async function readSession(deps: SessionDeps, call: Call): Promise<Answer> {
  const bytes = call.cookie === null ? null : sessionBytes(call.cookie);
  const found = bytes && (await deps.sessions.find(sessionHash(bytes)));
  if (!bytes || !found) return SIGNED_OUT;
  return { status: 200, body: sessionBody(deps.csrf, found, bytes) };
}

async function signOut(deps: SessionDeps, call: Call): Promise<Answer> {
  const id = call.identity?.session?.id;
  if (!id) throw new Error('a session operation runs with a session');
  const ended = await deps.sessions.end(id, 'sign_out', call.now, {
    at: call.now,
    actor: call.principal(),
    action: 'session.signed_out',
    resourceType: 'session',
    resourceId: id,
    resourceName: null,
    address: call.address,
    diff: [],
    details: {},
  });
  return ended ? { status: 204, headers: { 'Set-Cookie': clearedSessionCookie() } } : SIGNED_OUT;
}

/** A session as its own person reads it. */
export function sessionBody(csrf: CsrfTokens, { user, session }: SessionWithUser, bytes: Buffer) {
  const active = session.state === 'active';
  return {
    user: userShape(user),
    state: session.state,
    csrf_token: csrf.issue(bytes),
    expires_at: formatInstant(session.expiresAt),
    idle_expires_at: formatInstant(idleExpiresAt(session)),
    method: session.method,
    permissions: active ? inCatalogueOrder(ROLE_PERMISSIONS[user.role]) : [],
  };
}
