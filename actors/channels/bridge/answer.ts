/** What a bridge's answer means for whoever called it (bridge §2.2, §6 rule 7). Pure. */
import * as v from 'valibot';
import { MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
import { parseAnswer } from '../../../runtime/outbound/answer-json.ts';
import type { OutboundAnswer } from '../../../runtime/outbound/client.ts';
import {
  type ErrorCode,
  errorLine,
  retryAfter,
  unanswered,
  type Verdict,
  type VerdictContext,
} from '../../../runtime/outbound/verdict.ts';
import type { ReadAnswer } from './operations.ts';

/** A longer wait than this is a failure like any other. */
const LONGEST_WAIT: Micros = 15 * MINUTE;

/** A redirect is a mistake in the configuration, never followed and never repeated by itself (bridge §1 rule 9). */
const MISCONFIGURED = ": enter the address that answers itself as the Connection's base URL";

export interface BridgeFailure {
  readonly code: ErrorCode;
  /** Of the answer; null without one. */
  readonly status: number | null;
  /** For people; masked. */
  readonly error: string;
  /** What the bridge says about it, masked; its text is not to be trusted. */
  readonly detail: string | null;
}

/** Outcomes as all deliveries count them, and what only messages can come to. */
export type BridgeOutcome<Value> =
  | { readonly class: 'ok'; readonly value: Value }
  | ({
      readonly class: 'retry_after';
      readonly until: Micros;
      /** Who has to wait: one channel, or everything of the bot. */
      readonly scope: 'channel' | 'bot';
    } & BridgeFailure)
  | ({ readonly class: 'transient' | 'fatal' | 'unknown' } & BridgeFailure)
  | ({ readonly class: 'gone'; readonly reason: 'edit_window_closed' | null } & BridgeFailure)
  /** The service stops, or the caller had given up when the connection was open. */
  | { readonly class: 'not_sent' };

export type FailedOutcome = Exclude<BridgeOutcome<never>, { readonly class: 'ok' | 'not_sent' }>;

const Problem = v.object({
  class: v.fallback(
    v.nullable(v.picklist(['transient', 'rate_limited', 'gone', 'forbidden', 'invalid'])),
    null,
  ),
  scope: v.fallback(v.picklist(['channel', 'bot']), 'channel'),
  reason: v.fallback(v.nullable(v.literal('edit_window_closed')), null),
  detail: v.fallback(v.nullable(v.string()), null),
});
type Problem = v.InferOutput<typeof Problem>;
type ProblemClass = NonNullable<Problem['class']>;

const NO_PROBLEM: Problem = { class: null, scope: 'channel', reason: null, detail: null };

/** Of an answer that is no redirect. */
export function answerOutcome<Value>(
  answer: OutboundAnswer,
  context: VerdictContext,
  read: (answer: unknown) => ReadAnswer<Value>,
): Exclude<BridgeOutcome<Value>, { class: 'not_sent' }> {
  const { status } = answer;
  if (status !== 200 && status !== 201) return refusalOf(answer, context);
  const json = parseAnswer(answer.body);
  if (json === undefined) return invalid('unknown', status, 'the answer is not JSON, or has too many parts');
  const found = read(json);
  return found.ok
    ? { class: 'ok', value: found.value }
    : invalid(found.as, status, context.mask(found.error));
}

/** Of a request without an answer, or with one that the client itself did not like. */
export function unansweredOutcome(verdict: Verdict, status: number | null): BridgeOutcome<never> {
  const failed = unanswered(verdict, { redirect: 'unknown', error: MISCONFIGURED });
  return failed ? { ...failed, status, detail: null } : { class: 'not_sent' };
}

/** The same in the words that all owners share. */
export function verdictOf(outcome: Exclude<BridgeOutcome<unknown>, { class: 'not_sent' }>): Verdict {
  if (outcome.class === 'ok') return { class: 'ok' };
  const { code, error } = outcome;
  if (outcome.class === 'retry_after') return { class: 'retry_after', code, error, until: outcome.until };
  return { class: outcome.class, code, error };
}

function refusalOf(answer: OutboundAnswer, { now, mask }: VerdictContext): FailedOutcome {
  const { status } = answer;
  const problem = problemOf(answer.body);
  const detail = problem.detail === null ? null : errorLine(problem.detail, mask);
  const error = detail ? `answered ${status}: ${detail}` : `answered ${status}`;
  const failure = { code: 'http_status', status, error, detail } as const;
  const until = retryAfter(answer.headers['retry-after'], now);
  switch (problem.class ?? classByStatus(status, until !== null)) {
    case 'rate_limited':
      return rateLimited(failure, problem.scope, until, now);
    case 'gone':
      return { class: 'gone', reason: problem.reason, ...failure };
    case 'forbidden':
      return { class: 'fatal', ...failure };
    case 'invalid':
      return { class: 'unknown', ...failure };
    case 'transient':
      return { class: 'transient', ...failure };
  }
}

function rateLimited(
  failure: BridgeFailure,
  scope: Problem['scope'],
  until: Micros | null,
  now: Micros,
): FailedOutcome {
  if (until === null || until - now > LONGEST_WAIT) return { class: 'transient', ...failure };
  const seconds = Math.ceil((until - now) / SECOND);
  return {
    ...failure,
    class: 'retry_after',
    until,
    scope,
    error: `${failure.error}, asked to wait ${seconds} s`,
  };
}

/** Only where the bridge names no class: a message is never gone because of a status. */
function classByStatus(status: number, namesWait: boolean): Exclude<ProblemClass, 'gone'> {
  if (status === 401 || status === 403) return 'forbidden';
  if (status === 429 || (status === 503 && namesWait)) return 'rate_limited';
  if (status === 408 || status >= 500) return 'transient';
  return 'invalid';
}

function problemOf(body: Buffer): Problem {
  const read = v.safeParse(Problem, parseAnswer(body));
  return read.success ? read.output : NO_PROBLEM;
}

function invalid(as: 'unknown' | 'transient' | 'fatal', status: number, error: string) {
  return { class: as, code: 'response_invalid', status, error, detail: null } as const;
}
