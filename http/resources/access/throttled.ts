/** Proofs by a password or a code, throttled alike wherever they are asked for (access §4.1). */
import { HashQueueFullError } from '../../../actors/access/passwords.ts';
import type { Throttle, ThrottleKeys } from '../../../actors/access/ports.ts';
import { accountKey, EVALUATION_LIMIT, sourceKey } from '../../../actors/access/throttle.ts';
import { auditEntry } from '../../../actors/audit.ts';
import type { AuditEntry } from '../../../actors/effects.ts';
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import { within } from '../../errors.ts';
import { type Answer, authorOf, type Call } from '../../operation.ts';
import { refuse } from '../../problem.ts';

export interface ThrottledDeps {
  readonly throttle: Throttle;
  readonly clock: Clock;
  /** An evaluated attempt failed. */
  readonly onFailure: (method: ProofMethod) => void;
}

export type ProofMethod = 'local' | 'totp';

/** What came of an evaluation. Whatever passed has ended the evaluation and reset its keys itself, with what it stored. */
export type Judged<Passed> =
  | { readonly passed: Passed }
  | { readonly failed: ProofMethod; readonly entry: AuditEntry };

export type Throttled<Passed> =
  | { readonly outcome: 'passed'; readonly passed: Passed }
  | { readonly outcome: 'failed' }
  /** Not evaluated: µs to wait. */
  | { readonly outcome: 'throttled'; readonly wait: Micros };

/**
 * @throws {HashQueueFullError} too many hashes wait; the attempt does not count
 * @throws {UnavailableError} the answer takes as long as the attempt may hold its account; what was passed may still count
 */
export async function throttled<Passed>(
  deps: ThrottledDeps,
  keys: ThrottleKeys,
  now: Micros,
  judge: () => Promise<Judged<Passed>>,
): Promise<Throttled<Passed>> {
  const { throttle, clock } = deps;
  const admission = await within(clock, throttle.admit(keys, now));
  if (!admission.admitted) return { outcome: 'throttled', wait: admission.wait };
  return within(clock, evaluate(deps, keys, now, judge), EVALUATION_LIMIT);
}

async function evaluate<Passed>(
  { throttle, onFailure }: ThrottledDeps,
  keys: ThrottleKeys,
  now: Micros,
  judge: () => Promise<Judged<Passed>>,
): Promise<Throttled<Passed>> {
  try {
    const judged = await judge();
    if ('passed' in judged) return { outcome: 'passed', passed: judged.passed };
    onFailure(judged.failed);
    await throttle.failed(keys, now, judged.entry);
    return { outcome: 'failed' };
  } catch (error) {
    await throttle.release(keys, now);
    throw error;
  }
}

/** A proof that somebody signed in gave for an operation, and that is wrong. */
export function proofFailed(
  call: Pick<Call, 'principal' | 'now' | 'address'>,
  failed: ProofMethod,
  operation: string,
): Judged<never> {
  const author = authorOf(call);
  const { id, name } = author.by;
  const change = { action: 'user.proof_failed', resourceId: id, resourceName: name, details: { operation } };
  return { failed, entry: auditEntry(author, change) };
}

export function throttleKeys(login: string, address: string): ThrottleKeys {
  return { account: accountKey(login), source: sourceKey(address) };
}

/** The answer of an operation that asks for a proof: what `passed` makes of it, or the refusal that it deserves. */
export async function answerThrottled<Passed>(
  run: () => Promise<Throttled<Passed>>,
  passed: (value: Passed) => Answer,
): Promise<Answer> {
  try {
    const result = await run();
    switch (result.outcome) {
      case 'passed':
        return passed(result.passed);
      case 'failed':
        return WRONG;
      case 'throttled':
        return tooEarly(result.wait);
    }
  } catch (error) {
    if (error instanceof HashQueueFullError) return BUSY;
    throw error;
  }
}

export const PROOF_REFUSALS = [
  [401, 'unauthenticated', 'invalid_credentials'],
  [429, 'rate-limited', ''],
  [503, 'coordination-unavailable', ''],
] as const;

const WRONG = refuse({
  status: 401,
  type: 'unauthenticated',
  code: 'invalid_credentials',
  detail: 'Login, password or code is wrong.',
});

export const BUSY = refuse({
  status: 503,
  type: 'coordination-unavailable',
  detail: 'Many people are signing in right now. Try again in a moment.',
  retryAfterSeconds: 1,
});

function tooEarly(wait: Micros): Answer {
  return refuse({
    status: 429,
    type: 'rate-limited',
    detail: 'Too many failed attempts. Wait and try again.',
    retryAfterSeconds: Math.max(1, Math.ceil(wait / SECOND)),
  });
}
