/** The second factor of a session that waits for it (seed 2 §3.2, access §5). */
import * as v from 'valibot';
import { inTurnOf } from '../../actors/access/passwords.ts';
import { type GivenCodes, proofOf } from '../../actors/access/second-factor.ts';
import { type SessionWithUser, sessionHash } from '../../actors/access/session.ts';
import { auditEntry } from '../../actors/audit.ts';
import { authorOf } from '../author.ts';
import { sessionBytes } from '../cookies.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { conflict } from '../problem.ts';
import { signedInEntry } from '../sign-in.ts';
import { answerThrottled, type Judged, PROOF_REFUSALS, throttled, throttleKeys } from '../throttled.ts';
import { issueMessage } from '../validate-issues.ts';
import { type SessionDeps, SIGNED_OUT, sessionBody } from './sessions.ts';
import { SessionShape } from './user-shapes.ts';

const SecondFactorBody = v.pipe(
  v.object({ totp_code: v.optional(v.string()), recovery_code: v.optional(v.string()) }),
  v.check(
    (given) => (given.totp_code === undefined) !== (given.recovery_code === undefined),
    issueMessage('one_of_required', 'Send either totp_code or recovery_code.'),
  ),
);

export function secondFactorOperations(deps: SessionDeps): readonly Operation[] {
  return [
    operation({
      id: 'submitSessionTotp',
      method: 'POST',
      path: '/sessions/current/totp',
      tag: 'Sessions',
      summary: 'Enter the second factor',
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
