/** The caller's own second factor (access §5). */
import * as v from 'valibot';
import { inTurnOf, type Passwords } from '../../../actors/access/passwords.ts';
import type { Accounts, OwnPasswords, ThrottleKeys, TotpEnrolments } from '../../../actors/access/ports.ts';
import {
  hashRecoveryCodes,
  newRecoveryCodes,
  type Proof,
  proofByRecoveryCode,
  proofByTotp,
} from '../../../actors/access/second-factor.ts';
import { acceptedStep, base32, otpauthUri, TOTP_SEED_BYTES } from '../../../actors/access/totp.ts';
import { formatInstantOrNull } from '../../../runtime/clock.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict } from '../../problem.ts';
import { issueMessage } from '../../request/json-body.ts';
import * as d from '../../schema/described.ts';
import {
  answerThrottled,
  type Judged,
  PROOF_REFUSALS,
  proofFailed,
  type ThrottledDeps,
  throttled,
  throttleKeys,
} from './throttled.ts';

export interface OwnTotpDeps extends ThrottledDeps {
  readonly accounts: Pick<Accounts, 'secondFactor'>;
  readonly own: Pick<OwnPasswords, 'hashOf'>;
  readonly enrolments: TotpEnrolments;
  readonly passwords: Passwords;
  readonly random: (size: number) => Uint8Array;
}

const TAG = 'Profile';
const ENROLLING = { alsoIn: ['totp_enrolment_required'] } as const;

const StatusShape = d.named(
  'TotpStatus',
  v.object({
    enrolled: d.flag('Whether sign-in asks for a code.'),
    enrolled_at: v.nullable(d.time('Since when; null without a second factor.')),
    enrolment_pending: d.flag('Whether an enrolment waits for its first code.'),
    recovery_codes_remaining: d.count('Recovery codes that were not used yet.'),
  }),
  'Your second factor.',
);
const EnrolmentShape = d.named(
  'TotpEnrolment',
  v.object({
    secret: d.text('The secret in base32.'),
    otpauth_uri: d.url('The same as an `otpauth:` URI, for a QR code.'),
  }),
  'What an authenticator needs. In this answer only.',
);
const CodesShape = d.named(
  'RecoveryCodes',
  v.object({ codes: d.described(v.array(v.string()), 'Ten codes, each of which works once.') }),
  'Recovery codes. In this answer only.',
);
const CodeInput = d.named(
  'TotpCode',
  v.object({ code: d.described(v.string(), 'Six digits.') }),
  'A code of the authenticator.',
);
type CodeInput = v.InferOutput<typeof CodeInput>;

const RemovalInput = d.named(
  'TotpRemoval',
  v.pipe(
    v.object({
      password: d.optionalText('Your password.'),
      totp_code: d.optionalText('A code of the authenticator.'),
      recovery_code: d.optionalText('A recovery code. Case, dashes and spaces do not matter.'),
    }),
    v.check(
      (given) => Object.values(given).some((proof) => proof !== undefined),
      issueMessage('one_of_required', 'Send password, totp_code or recovery_code.'),
    ),
  ),
  'A proof that it is you: at least one of the three.',
);
type RemovalInput = v.InferOutput<typeof RemovalInput>;

export function ownTotpOperations(deps: OwnTotpDeps): readonly Operation[] {
  return [
    operation({
      id: 'getMyTotp',
      method: 'GET',
      path: '/me/totp',
      tag: TAG,
      summary: 'Read the state of your second factor',
      description: 'Also with a session that must enrol first.',
      needs: 'user',
      ...ENROLLING,
      answers: { 200: { description: 'Whether there is one', schema: StatusShape } },
      handle: (call) => readStatus(deps, call),
    }),
    operation({
      id: 'beginTotpEnrolment',
      method: 'POST',
      path: '/me/totp',
      tag: TAG,
      summary: 'Begin to set up a second factor',
      description: 'Nothing counts until a code confirms it. Beginning again replaces the secret.',
      needs: 'session',
      ...ENROLLING,
      answers: { 201: { description: 'The secret, shown once', schema: EnrolmentShape } },
      refusals: [[409, 'conflict', 'totp_already_enrolled']],
      handle: (call) => begin(deps, call),
    }),
    operation({
      id: 'confirmTotpEnrolment',
      method: 'POST',
      path: '/me/totp/confirmation',
      tag: TAG,
      summary: 'Confirm the second factor with its first code',
      description: 'A session that had to enrol becomes active.',
      needs: 'session',
      ...ENROLLING,
      body: CodeInput,
      answers: { 200: { description: 'Recovery codes, shown once', schema: CodesShape } },
      refusals: [
        [409, 'conflict', 'totp_already_enrolled'],
        [409, 'conflict', 'totp_enrolment_not_started'],
        ...PROOF_REFUSALS,
      ],
      handle: (call) => confirm(deps, call),
    }),
    operation({
      id: 'removeTotp',
      method: 'POST',
      path: '/me/totp/removal',
      tag: TAG,
      summary: 'Remove your second factor',
      description: 'Proofs are tried in the order password, code, recovery code; one right is enough.',
      needs: 'session',
      body: RemovalInput,
      answers: { 204: { description: 'There is no second factor any more' } },
      refusals: [[409, 'conflict', 'totp_not_enrolled'], ...PROOF_REFUSALS],
      handle: (call) => remove(deps, call),
    }),
    operation({
      id: 'regenerateTotpRecoveryCodes',
      method: 'POST',
      path: '/me/totp/recovery-codes',
      tag: TAG,
      summary: 'Make new recovery codes; unused ones end',
      description: 'Needs a code of the authenticator.',
      needs: 'session',
      body: CodeInput,
      answers: { 200: { description: 'Recovery codes, shown once', schema: CodesShape } },
      refusals: [[409, 'conflict', 'totp_not_enrolled'], ...PROOF_REFUSALS],
      handle: (call) => regenerate(deps, call),
    }),
  ];
}

interface Me {
  readonly id: PublicId;
  readonly login: string;
}

function meOf({ identity }: Pick<Call, 'identity'>): Me {
  if (!identity?.user) throw new Error('an operation under /me runs as a user');
  return identity.user;
}

const ALREADY_ENROLLED = conflict('totp_already_enrolled', 'You have a second factor. Remove it first.');
const NOT_STARTED = conflict('totp_enrolment_not_started', 'Begin to set up a second factor first.');
const NOT_ENROLLED = conflict('totp_not_enrolled', 'You have no second factor.');

async function readStatus({ enrolments }: OwnTotpDeps, call: Call): Promise<Answer> {
  const { enrolledAt, isPending, recoveryCodesRemaining } = await enrolments.status(meOf(call).id);
  return {
    status: 200,
    body: {
      enrolled: enrolledAt !== null,
      enrolled_at: formatInstantOrNull(enrolledAt),
      enrolment_pending: isPending,
      recovery_codes_remaining: recoveryCodesRemaining,
    },
  };
}

async function begin({ enrolments, random }: OwnTotpDeps, call: Call): Promise<Answer> {
  const { id, login } = meOf(call);
  const seed = random(TOTP_SEED_BYTES);
  if (!(await enrolments.begin(id, seed))) return ALREADY_ENROLLED;
  return { status: 201, body: { secret: base32(seed), otpauth_uri: otpauthUri(login, seed) } };
}

/** Codes, made and hashed only for who has proved something. */
async function newCodes({ random, passwords }: OwnTotpDeps, { source }: ThrottleKeys) {
  const codes = newRecoveryCodes(random);
  return { codes, recoveryCodes: await hashRecoveryCodes(inTurnOf(source, passwords), codes) };
}

async function confirm(deps: OwnTotpDeps, call: Call<undefined, CodeInput>): Promise<Answer> {
  const { id: userId, login } = meOf(call);
  const sessionId = call.identity?.session?.id;
  if (!sessionId) throw new Error('a session operation runs with a session');
  if ((await deps.enrolments.status(userId)).enrolledAt !== null) return ALREADY_ENROLLED;
  const seed = await deps.enrolments.pendingSeed(userId);
  if (!seed) return NOT_STARTED;
  const attempt = throttleKeys(login, call.address);
  const judge = async (): Promise<Judged<readonly string[] | null>> => {
    const step = acceptedStep(seed, call.body.code, call.now, null);
    if (step === null) return proofFailed(call, 'totp', 'confirmTotpEnrolment');
    const { codes, recoveryCodes } = await newCodes(deps, attempt);
    const confirmation = { userId, sessionId, seed, step, recoveryCodes, attempt };
    const outcome = await deps.enrolments.confirm(confirmation, authorOf(call));
    return { passed: outcome === 'confirmed' ? codes : null };
  };
  return answerThrottled(
    () => throttled(deps, attempt, call.now, judge),
    (codes) => (codes ? { status: 200, body: { codes } } : NOT_STARTED),
  );
}

async function regenerate(deps: OwnTotpDeps, call: Call<undefined, CodeInput>): Promise<Answer> {
  const { id: userId, login } = meOf(call);
  if ((await deps.enrolments.status(userId)).enrolledAt === null) return NOT_ENROLLED;
  const attempt = throttleKeys(login, call.address);
  const judge = async (): Promise<Judged<readonly string[]>> => {
    const factor = await deps.accounts.secondFactor(userId);
    const proof = factor && proofByTotp(factor, call.body.code, call.now);
    if (!proof) return proofFailed(call, 'totp', 'regenerateTotpRecoveryCodes');
    const { codes, recoveryCodes } = await newCodes(deps, attempt);
    const replaced = await deps.enrolments.replaceRecoveryCodes(
      { userId, proof, recoveryCodes },
      attempt,
      authorOf(call),
    );
    return replaced ? { passed: codes } : proofFailed(call, 'totp', 'regenerateTotpRecoveryCodes');
  };
  return answerThrottled(
    () => throttled(deps, attempt, call.now, judge),
    (codes) => ({ status: 200, body: { codes } }),
  );
}

async function remove(deps: OwnTotpDeps, call: Call<undefined, RemovalInput>): Promise<Answer> {
  const { id, login } = meOf(call);
  const { enrolledAt, isPending } = await deps.enrolments.status(id);
  if (enrolledAt === null && !isPending) return NOT_ENROLLED;
  const attempt = throttleKeys(login, call.address);
  const inTurn = { ...deps, passwords: inTurnOf(attempt.source, deps.passwords) };
  const judge = async (): Promise<Judged<null>> => {
    const proven = await proofFor(inTurn, id, call);
    const wrong = proofFailed(call, call.body.password === undefined ? 'totp' : 'local', 'removeTotp');
    if (!proven) return wrong;
    const proof = proven === 'password' ? null : proven;
    const removed = await deps.enrolments.remove(id, proof, attempt, authorOf(call));
    return removed ? { passed: null } : wrong;
  };
  return answerThrottled(
    () => throttled(deps, attempt, call.now, judge),
    () => ({ status: 204 }),
  );
}

/** The first of the given proofs that is right: password, code, recovery code. */
async function proofFor(
  { accounts, own, passwords }: OwnTotpDeps,
  id: PublicId,
  { body, now }: Call<undefined, RemovalInput>,
): Promise<'password' | Proof | null> {
  if (body.password !== undefined) {
    const answer = await passwords.check(await own.hashOf(id), body.password);
    if (answer !== 'wrong') return 'password';
  }
  const factor = await accounts.secondFactor(id);
  if (body.totp_code !== undefined && factor) {
    const proof = proofByTotp(factor, body.totp_code, now);
    if (proof) return proof;
  }
  return body.recovery_code === undefined ? null : proofByRecoveryCode(passwords, factor, body.recovery_code);
}
