/** Sign-in with login and password: throttled, evenly slow, and written down (access §4). */
import type { Passwords } from '../actors/access/passwords.ts';
import type { AccessStore, Account } from '../actors/access/ports.ts';
import { SESSION_LIFETIME, type Session, sessionHash } from '../actors/access/session.ts';
import { accountKey, sourceKey } from '../actors/access/throttle.ts';
import { foldLogin, type User } from '../actors/access/user.ts';
import type { AuditEntry } from '../actors/effects.ts';
import type { Clock, Micros } from '../runtime/clock.ts';
import { newPublicId } from '../runtime/public-id.ts';
import { within } from './within.ts';

const COOKIE_BYTES = 32;
/** The login of a failed attempt is recorded up to this length. */
const RECORDED_LOGIN = 200;

export interface Attempt {
  readonly login: string;
  readonly password: string;
  readonly address: string;
  readonly userAgent: string | null;
  /** Bytes of a session cookie that came along; its session ends when this one begins. */
  readonly cookie: Buffer | null;
  readonly now: Micros;
}

export type SignInOutcome =
  | { readonly outcome: 'signed_in'; readonly user: User; readonly session: Session; readonly bytes: Buffer }
  | { readonly outcome: 'refused' }
  /** Not evaluated: µs to wait. */
  | { readonly outcome: 'throttled'; readonly wait: Micros };

export interface SignInDeps {
  readonly store: Pick<AccessStore, 'accounts' | 'throttle'>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly random: (size: number) => Uint8Array;
  /** An evaluated attempt failed. */
  readonly onFailure: () => void;
}

type Verdict =
  | { readonly account: Account; readonly rehashed: string | null }
  | { readonly failure: 'unknown_login' | 'wrong_password' | 'inactive' };

/** @throws {HashQueueFullError} too many hashes wait; the attempt does not count */
export async function signIn(deps: SignInDeps, attempt: Attempt): Promise<SignInOutcome> {
  const account = accountKey(attempt.login);
  const source = sourceKey(attempt.address);
  const { throttle } = deps.store;
  const admission = await within(deps.clock, throttle.admit(account, source, attempt.now));
  if (!admission.admitted) return { outcome: 'throttled', wait: admission.wait };

  try {
    const verdict = await evaluate(deps, attempt);
    const begun = 'account' in verdict ? await begin(deps, attempt, verdict, [account, source]) : null;
    if (begun) return begun;
    deps.onFailure();
    const reason = 'failure' in verdict ? verdict.failure : 'inactive';
    await throttle.failed(account, source, attempt.now, failureEntry(attempt, reason));
    return { outcome: 'refused' };
  } catch (error) {
    await throttle.release(account);
    throw error;
  }
}

async function evaluate({ store, passwords }: SignInDeps, attempt: Attempt): Promise<Verdict> {
  const account = await store.accounts.findByLogin(foldLogin(attempt.login));
  const answer = await passwords.check(account?.passwordHash ?? null, attempt.password);
  if (!account) return { failure: 'unknown_login' };
  if (account.user.status !== 'active') return { failure: 'inactive' };
  if (answer === 'wrong') return { failure: 'wrong_password' };
  const rehashed = answer === 'right_but_rehash' ? await passwords.hash(attempt.password) : null;
  return { account, rehashed };
}

/** Null when the account stopped being active meanwhile. */
async function begin(
  deps: SignInDeps,
  attempt: Attempt,
  { account, rehashed }: Extract<Verdict, { account: Account }>,
  clears: readonly string[],
): Promise<SignInOutcome | null> {
  const bytes = Buffer.from(deps.random(COOKIE_BYTES));
  const session = newSession(account.user, attempt.now);
  const user = await deps.store.accounts.signIn({
    session,
    hash: sessionHash(bytes),
    address: attempt.address,
    userAgent: attempt.userAgent,
    rehashed,
    clears,
    replaces: attempt.cookie && sessionHash(attempt.cookie),
    entry: successEntry(account.user, session, attempt),
  });
  return user && { outcome: 'signed_in', user, session, bytes };
}

function newSession(user: User, now: Micros): Session {
  return {
    id: newPublicId('SN'),
    userId: user.id,
    state: 'active',
    method: 'local',
    createdAt: now,
    lastUsedAt: now,
    expiresAt: now + SESSION_LIFETIME,
    endedAt: null,
    endReason: null,
  };
}

function successEntry(user: User, session: Session, attempt: Attempt): AuditEntry {
  const { id, name, login } = user;
  return {
    at: attempt.now,
    actor: { kind: 'user', id, name, login, tokenName: null, transport: 'ui' },
    action: 'session.signed_in',
    resourceType: 'session',
    resourceId: session.id,
    resourceName: null,
    address: attempt.address,
    diff: [],
    details: { method: session.method },
  };
}

function failureEntry(attempt: Attempt, reason: string): AuditEntry {
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
