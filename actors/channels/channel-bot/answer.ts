/** What an answer of the Bot API means, decided by `error_code` and `description` (channel-bot §11). */
import * as v from 'valibot';
import { type Micros, SECOND } from '../../../runtime/clock.ts';
import { parseStorable } from '../../../runtime/outbound/answer-json.ts';
import type { OutboundAnswer } from '../../../runtime/outbound/client.ts';
import {
  type ErrorCode,
  errorLine,
  retryAfter,
  unanswered,
  type Verdict,
  type VerdictContext,
} from '../../../runtime/outbound/verdict.ts';
import type { BotRequest } from './operations.ts';

export interface BotFailure {
  readonly code: ErrorCode;
  /** `error_code`, or the status of an answer without one; null without an answer. */
  readonly status: number | null;
  /** For people; masked. The messenger's own words are not to be trusted. */
  readonly error: string;
  /** What a channel can do about it. */
  readonly about: About | null;
}

/** `moved`: the group has another id now. `markup`: the text cannot be read as HTML. */
export type About =
  | { readonly is: 'markup' | 'not_modified' | 'thread_gone' }
  | { readonly is: 'moved'; readonly to: string };

/** Outcomes as all deliveries count them. */
export type BotOutcome<Value> =
  | { readonly class: 'ok'; readonly value: Value }
  | ({ readonly class: 'retry_after'; readonly until: Micros } & BotFailure)
  | ({ readonly class: 'transient' | 'fatal' | 'unknown' | 'gone' } & BotFailure)
  /** The service stops, or the caller had given up when the connection was open. */
  | { readonly class: 'not_sent' };

export type BotFailed = Exclude<BotOutcome<never>, { readonly class: 'ok' | 'not_sent' }>;

const Envelope = v.variant('ok', [
  v.object({ ok: v.literal(true), result: v.unknown() }),
  v.object({
    ok: v.literal(false),
    error_code: v.pipe(v.number(), v.integer()),
    description: v.fallback(v.string(), ''),
    parameters: v.fallback(
      v.object({
        retry_after: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(10_000_000))),
        migrate_to_chat_id: v.optional(v.pipe(v.number(), v.safeInteger())),
      }),
      {},
    ),
  }),
]);
type Refused = Extract<v.InferOutput<typeof Envelope>, { ok: false }>;

export const TOKEN_REFUSED = 'The messenger refuses the bot token.';
export const NO_BOT_API = 'not the answer that a Bot API server gives';
/** The address is wrong for every call: it is never followed, and delivery waits until it is corrected. */
const MISCONFIGURED = ': enter the address that answers itself as the Bot API address of the Connection';

/** 400s by their texts, in any case; first match. */
const GONE = /message to edit not found|message can't be edited|message_id_invalid/;
const THREAD_GONE = /message to be replied not found|message to reply not found|message thread not found/;
const MARKUP = /can't parse entities|unsupported start tag/;
const CLOSED = new RegExp(
  'chat not found|not enough rights|need administrator rights|have no rights|have no write access|' +
    'chat_write_forbidden|chat_admin_required|channel_private|user_not_participant',
);

/** Of an answer that is no redirect. */
export function answerOutcome<Value>(
  answer: OutboundAnswer,
  context: VerdictContext,
  request: Pick<BotRequest<Value>, 'operation' | 'isReply' | 'read'>,
): Exclude<BotOutcome<Value>, { class: 'not_sent' }> {
  const read = v.safeParse(Envelope, parseStorable(answer.body));
  if (!read.success) return strange(answer, context);
  if (!read.output.ok) return refusal(read.output, answer, context, request);
  const value = request.read(read.output.result);
  return value === null ? strange(answer, context) : { class: 'ok', value };
}

/** A proxy's page, or an empty body: it says nothing about what the messenger did, unless its status does. */
function strange({ status, headers }: OutboundAnswer, { now }: VerdictContext): BotFailed {
  const failure = { code: 'response_invalid', status, about: null } as const;
  const until = status === 429 ? retryAfter(headers['retry-after'], now) : null;
  if (until !== null) return { class: 'retry_after', until, ...failure, error: waitText(until, now) };
  const error = status < 300 ? NO_BOT_API : `answered ${status}`;
  return { class: classOfStatus(status), ...failure, error: status === 401 ? TOKEN_REFUSED : error };
}

function classOfStatus(status: number): 'transient' | 'fatal' | 'unknown' {
  if ([401, 403, 404, 421].includes(status)) return 'fatal';
  return status >= 400 && status < 500 && ![408, 409, 429].includes(status) ? 'unknown' : 'transient';
}

/** Of a request without an answer, or with one that the client itself did not like. */
export function unansweredOutcome(verdict: Verdict, status: number | null): BotOutcome<never> {
  const failed = unanswered(verdict, { redirect: 'fatal', error: MISCONFIGURED });
  return failed ? { ...failed, status, about: null } : { class: 'not_sent' };
}

/** The same in the words that all owners share. */
export function verdictOf(outcome: Exclude<BotOutcome<unknown>, { class: 'not_sent' }>): Verdict {
  if (outcome.class === 'ok') return { class: 'ok' };
  const { code, error } = outcome;
  if (outcome.class === 'retry_after') return { class: 'retry_after', code, error, until: outcome.until };
  if (outcome.about?.is === 'not_modified') return { class: 'ok' };
  return { class: outcome.class, code, error };
}

function refusal(
  { error_code: status, description, parameters }: Refused,
  { headers }: OutboundAnswer,
  { now, mask }: VerdictContext,
  request: Pick<BotRequest<unknown>, 'operation' | 'isReply'>,
): BotFailed {
  const said = errorLine(description, mask);
  const isToken = status === 401 || (status === 404 && !/method not found/i.test(description));
  const error = isToken ? TOKEN_REFUSED : said === '' ? `answered ${status}` : `answered ${status}: ${said}`;
  const failure = { code: 'http_status', status, error } as const;
  const wait = parameters.retry_after;
  const until =
    wait === undefined ? retryAfter(headers['retry-after'], now) : now + Math.max(1, wait) * SECOND;
  if (status === 429 && until !== null)
    return { class: 'retry_after', until, ...failure, about: null, error: waitText(until, now) };
  const { migrate_to_chat_id: to } = parameters;
  if (to !== undefined) return { class: 'unknown', ...failure, about: { is: 'moved', to: String(to) } };
  return { ...failure, ...meaning(status, description.toLowerCase(), request) };
}

function waitText(until: Micros, now: Micros): string {
  return `answered 429, asked to wait ${Math.ceil((until - now) / SECOND)} s`;
}

function meaning(
  status: number,
  text: string,
  { operation, isReply }: Pick<BotRequest<unknown>, 'operation' | 'isReply'>,
): Pick<BotFailure, 'about'> & { readonly class: 'transient' | 'fatal' | 'unknown' | 'gone' } {
  const about = null;
  if (status !== 400) return { class: classOfStatus(status), about };
  const isEdit = operation === 'editMessageText';
  if (isEdit && text.includes('message is not modified'))
    return { class: 'unknown', about: { is: 'not_modified' } };
  if (isEdit && GONE.test(text)) return { class: 'gone', about };
  if (isReply && THREAD_GONE.test(text)) return { class: 'gone', about: { is: 'thread_gone' } };
  if (MARKUP.test(text)) return { class: 'unknown', about: { is: 'markup' } };
  return { class: CLOSED.test(text) ? 'fatal' : 'unknown', about };
}
