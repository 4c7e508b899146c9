/** Signing in, with the second factor where there is one, and out (api §3, access §3 to §5). */
import * as v from 'valibot';
import type { SingleSignOn } from '../../../actors/access/oidc/sign-in.ts';
import { inTurnOf } from '../../../actors/access/passwords.ts';
import type { Sessions } from '../../../actors/access/ports.ts';
import { type GivenCodes, proofOf } from '../../../actors/access/second-factor.ts';
import { idleExpiresAt, type SessionWithUser, sessionHash } from '../../../actors/access/session.ts';
import { userShape } from '../../../actors/access/user.ts';
import { auditEntry } from '../../../actors/audit.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import { isLoopback } from '../../../runtime/config-values.ts';
import type { Log } from '../../../runtime/log.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { inCatalogueOrder, ROLE_PERMISSIONS } from '../../permissions.ts';
import { conflict, refuse } from '../../problem.ts';
import {
  type CsrfTokens,
  clearedSessionCookie,
  sessionBytes,
  sessionCookie,
} from '../../request/credentials.ts';
import { issueMessage } from '../../request/json-body.ts';
import * as d from '../../schema/described.ts';
import { type SignInDeps, signedInEntry, signIn } from './sign-in.ts';
import { answerThrottled, type Judged, PROOF_REFUSALS, throttled, throttleKeys } from './throttled.ts';
import { SessionShape } from './users.ts';

export interface SessionDeps extends SignInDeps {
  readonly sessions: Sessions;
  readonly singleSignOn: Pick<SingleSignOn, 'buttonName'>;
  readonly csrf: CsrfTokens;
  readonly log: Log;
}

export function sessionOperations(deps: SessionDeps): readonly Operation[] {
  return [
    operation({
      id: 'getSignInOptions',
      method: 'GET',
      path: '/sign-in-options',
      tag: 'Sessions',
      summary: 'Read the ways to sign in',
      description: 'For the sign-in page.',
      needs: 'none',
      answers: {
        200: {
          description: 'display_name only while sign-in through an identity provider is on',
          schema: v.object({
            oidc: d.described(
              v.object({
                enabled: d.flag('Whether it is open.'),
                display_name: d.optionalText('Name for the button. Absent while it is not open.'),
              }),
              'The way through an identity provider.',
            ),
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
      description:
        'Sets the cookie `svc_session`. After three failures attempts wait: 429, and are not looked at.',
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
      description: 'Has the CSRF token that changes need.',
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
      description: 'In any state of the session.',
      needs: 'cookie',
      answers: { 204: { description: 'The session has ended; its cookie is cleared' } },
      handle: (call) => signOut(deps, call),
    }),
  ];
}

const SignInBody = d.named(
  'SignIn',
  v.object({
    login: d.described(v.pipe(v.string(), v.minLength(1)), 'Login, in any case.'),
    password: d.described(v.pipe(v.string(), v.minLength(1)), 'Password.'),
    totp_code: d.optionalText(
      'A code of the authenticator. Left out, the session waits for one where it is needed.',
    ),
    recovery_code: d.optionalText(
      'A recovery code in its place. With both, the code of the authenticator counts.',
    ),
  }),
  'A sign-in with a password.',
);

function createSession(
  deps: SessionDeps,
  call: Call<undefined, v.InferOutput<typeof SignInBody>>,
): Promise<Answer> {
  const { address, userAgent, now, body } = call;
  const { login, password, totp_code: totpCode = null, recovery_code: recoveryCode = null } = body;
  const cookie = call.cookie === null ? null : sessionBytes(call.cookie);
  return answerThrottled(
    () => signIn(deps, { login, password, totpCode, recoveryCode, address, userAgent, cookie, now }),
    (begun) => {
      noteDroppedCookie(deps.log, call.header('origin'));
      return {
        status: 201,
        body: sessionBody(deps.csrf, begun, begun.bytes),
        headers: { 'Set-Cookie': sessionCookie(begun.bytes.toString('base64url')) },
      };
    },
  );
}

/** A browser that came over plain http drops the Secure cookie, unless it runs on this machine. */
function noteDroppedCookie(log: Log, origin: string | null): void {
  if (!origin?.startsWith('http://') || !URL.canParse(origin) || isLoopback(origin)) return;
  log('sign_in_not_https', { origin: new URL(origin).origin });
}

/** It ended since the call was admitted, maybe by a sign-in in another tab: the cookie of that one must stay. */
const SIGNED_OUT = refuse({
  status: 401,
  type: 'unauthenticated',
  detail: 'Your session has ended. Sign in again.',
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
function sessionBody(csrf: CsrfTokens, { user, session }: SessionWithUser, bytes: Buffer) {
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

/** The second factor of a session that waits for it (access §5). */
const SecondFactorBody = d.named(
  'SecondFactor',
  v.pipe(
    v.object({
      totp_code: d.optionalText('A code of the authenticator, six digits.'),
      recovery_code: d.optionalText('A recovery code. Case, dashes and spaces do not matter.'),
    }),
    v.check(
      (given) => (given.totp_code === undefined) !== (given.recovery_code === undefined),
      issueMessage('one_of_required', 'Send either totp_code or recovery_code.'),
    ),
  ),
  'Exactly one of the two codes.',
);

export function secondFactorOperations(deps: SessionDeps): readonly Operation[] {
  return [
    operation({
      id: 'submitSessionTotp',
      method: 'POST',
      path: '/sessions/current/totp',
      tag: 'Sessions',
      summary: 'Enter the second factor',
      description: 'After three wrong codes attempts have to wait: 429.',
      needs: 'cookie',
      body: SecondFactorBody,
      answers: { 200: { description: 'The session, which is active now', schema: SessionShape } },
      refusals: [[409, 'conflict', 'totp_not_pending'], ...PROOF_REFUSALS],
      handle: (call) => submit(deps, call),
    }),
  ];
}

async function submit(
  deps: SessionDeps,
  call: Call<undefined, v.InferOutput<typeof SecondFactorBody>>,
): Promise<Answer> {
  const bytes = call.cookie === null ? null : sessionBytes(call.cookie);
  const found = bytes && (await deps.sessions.find(sessionHash(bytes)));
  if (!bytes || !found) return SIGNED_OUT;
  if (found.session.state !== 'totp_required') return NOT_PENDING;
  const { totp_code: totpCode = null, recovery_code: recoveryCode = null } = call.body;
  const codes = { totpCode, recoveryCode };
  const { store } = deps;
  const keys = throttleKeys(found.user.login, call.address);
  return answerThrottled(
    () =>
      throttled({ ...deps, throttle: store.throttle }, keys, call.now, () => judge(deps, call, found, codes)),
    (outcome) =>
      outcome === 'active'
        ? { status: 200, body: sessionBody(deps.csrf, activeOne(found), bytes) }
        : NOT_PENDING,
  );
}

const NOT_PENDING = conflict('totp_not_pending', 'This session does not wait for a second factor.');

function activeOne({ user, session }: SessionWithUser): SessionWithUser {
  return { user, session: { ...session, state: 'active' } };
}

async function judge(
  deps: SessionDeps,
  call: Call,
  found: SessionWithUser,
  codes: GivenCodes,
): Promise<Judged<'active' | 'not_pending'>> {
  const { user, session } = found;
  const factor = await deps.store.accounts.secondFactor(user.id);
  const attempt = throttleKeys(user.login, call.address);
  const proof = await proofOf(inTurnOf(attempt.source, deps.passwords), factor, codes, call.now);
  if (!proof) return failed(call, session.id);
  const outcome = await deps.store.accounts.completeSignIn({
    sessionId: session.id,
    userId: user.id,
    proof,
    attempt,
    entry: signedInEntry(user, activeOne(found).session, call),
  });
  return outcome === 'wrong_code' ? failed(call, session.id) : { passed: outcome };
}

function failed(call: Call, sessionId: string): Judged<never> {
  const change = { action: 'session.second_factor_failed', resourceId: sessionId, resourceName: null };
  return { failed: 'totp', entry: auditEntry(authorOf(call), change) };
}
