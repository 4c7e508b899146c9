/** Sign-in with login, password and second factor: throttled, evenly slow, and written down (access §4, §5). */
import { inTurnOf, type Passwords } from '../../../actors/access/passwords.ts';
import type { AccessStore, Account, SignedIn, ThrottleKeys } from '../../../actors/access/ports.ts';
import {
  type GivenCodes,
  type Proof,
  policyCovers,
  proofOf,
  type SecondFactor,
} from '../../../actors/access/second-factor.ts';
import {
  SESSION_LIFETIME,
  type Session,
  type SessionState,
  sessionHash,
} from '../../../actors/access/session.ts';
import { foldLogin, type User } from '../../../actors/access/user.ts';
import type { AuditEntry } from '../../../actors/effects.ts';
import type { Clock, Micros } from '../../../runtime/clock.ts';
import { newPublicId } from '../../../runtime/public-id.ts';
import { type Judged, type ProofMethod, type Throttled, throttled, throttleKeys } from './throttled.ts';

const COOKIE_BYTES = 32;
/** The login of a failed attempt is recorded up to this length. */
const RECORDED_LOGIN = 200;

export interface Attempt extends GivenCodes {
  readonly login: string;
  readonly password: string;
  readonly address: string;
  readonly userAgent: string | null;
  /** Bytes of a session cookie that came along; its session ends when this one begins. */
  readonly cookie: Buffer | null;
  readonly now: Micros;
}

export interface Begun {
  readonly user: User;
  readonly session: Session;
  readonly bytes: Buffer;
}

export interface SignInDeps {
  readonly store: Pick<AccessStore, 'accounts' | 'throttle' | 'organization'>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly random: (size: number) => Uint8Array;
  /** An evaluated attempt failed. */
  readonly onFailure: (method: ProofMethod) => void;
}

type Failure = 'unknown_login' | 'wrong_password' | 'wrong_code' | 'inactive';

interface Right {
  readonly account: Account;
  readonly rehashed: string | null;
  readonly proof: Proof | null;
  readonly state: SessionState;
}

type Verdict = Right | { readonly failure: Failure };

/** @throws {HashQueueFullError} too many hashes wait; the attempt does not count */
export function signIn(deps: SignInDeps, attempt: Attempt): Promise<Throttled<Begun>> {
  const keys = throttleKeys(attempt.login, attempt.address);
  const { throttle } = deps.store;
  const inTurn = { ...deps, passwords: inTurnOf(keys.source, deps.passwords) };
  return throttled({ ...deps, throttle }, keys, attempt.now, () => judge(inTurn, attempt, keys));
}

async function judge(deps: SignInDeps, attempt: Attempt, keys: ThrottleKeys): Promise<Judged<Begun>> {
  const verdict = await evaluate(deps, attempt);
  if ('failure' in verdict) return failed(attempt, verdict.failure);
  const begun = await begin(deps, attempt, verdict, keys);
  return 'refused' in begun ? failed(attempt, begun.refused) : { passed: begun };
}

function failed(attempt: Attempt, reason: Failure): Judged<never> {
  return { failed: reason === 'wrong_code' ? 'totp' : 'local', entry: failureEntry(attempt, reason) };
}

/**
 * Every refusal costs the same hash, whatever was found. A second factor is looked at behind a right password only, which
 * a sign-in without a code tells as well: its many hashes are nothing that anybody may have made.
 */
async function evaluate({ store, passwords }: SignInDeps, attempt: Attempt): Promise<Verdict> {
  const account = await store.accounts.findByLogin(foldLogin(attempt.login));
  const answer = await passwords.check(account?.passwordHash ?? null, attempt.password);
  if (!account) return { failure: 'unknown_login' };
  if (account.user.status !== 'active') return { failure: 'inactive' };
  if (answer === 'wrong') return { failure: 'wrong_password' };
  const factor = account.secondFactor();
  const proof = factor && (await proofOf(passwords, factor, attempt, attempt.now));
  const isGiven = attempt.totpCode !== null || attempt.recoveryCode !== null;
  if (factor && isGiven && !proof) return { failure: 'wrong_code' };
  const rehashed = answer === 'right_but_rehash' ? await passwords.hash(attempt.password) : null;
  return { account, rehashed, proof, state: await stateOf(store, account.user, factor, proof) };
}

async function stateOf(
  store: SignInDeps['store'],
  user: User,
  factor: SecondFactor | null,
  proof: Proof | null,
): Promise<SessionState> {
  if (factor) return proof ? 'active' : 'totp_required';
  const { settings } = await store.organization.read();
  return policyCovers(settings.totp_required, user) ? 'totp_enrolment_required' : 'active';
}

async function begin(
  deps: SignInDeps,
  attempt: Attempt,
  { account, rehashed, proof, state }: Right,
  keys: ThrottleKeys,
): Promise<Begun | Extract<SignedIn, { refused: unknown }>> {
  const bytes = Buffer.from(deps.random(COOKIE_BYTES));
  const session = newSession(account.user, state, attempt.now);
  const signedIn = await deps.store.accounts.signIn({
    session,
    hash: sessionHash(bytes),
    address: attempt.address,
    userAgent: attempt.userAgent,
    passwordHash: account.passwordHash,
    rehashed,
    attempt: keys,
    proof,
    replaces: attempt.cookie && sessionHash(attempt.cookie),
    entry: signedInEntry(account.user, session, attempt),
  });
  return 'refused' in signedIn ? signedIn : { user: signedIn.user, session, bytes };
}

function newSession(user: User, state: SessionState, now: Micros): Session {
  return {
    id: newPublicId('SN'),
    userId: user.id,
    state,
    method: 'local',
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + SESSION_LIFETIME,
    endedAt: null,
    endReason: null,
  };
}

/** A session that came to be, or became active: `state` says which. */
export function signedInEntry(
  user: Pick<User, 'id' | 'name' | 'login'>,
  session: Pick<Session, 'id' | 'method' | 'state'>,
  { now, address }: { readonly now: Micros; readonly address: string },
): AuditEntry {
  const { id, name, login } = user;
  return {
    at: now,
    actor: { kind: 'user', id, name, login, tokenName: null, transport: 'ui' },
    action: 'session.signed_in',
    resourceType: 'session',
    resourceId: session.id,
    resourceName: null,
    address,
    diff: [],
    details: { method: session.method, state: session.state },
  };
}

function failureEntry(attempt: Attempt, reason: Failure): AuditEntry {
  const login = [...attempt.login].slice(0, RECORDED_LOGIN).join('');
  return {
    at: attempt.now,
    actor: { kind: 'system', id: null, name: 'system' },
    action: 'session.sign_in_failed',
    resourceType: 'session',
    resourceId: null,
    resourceName: null,
    address: attempt.address,
    diff: [],
    details: { login, address: attempt.address, reason },
  };
}
