/** What an answer of the chat server means for whoever called it (chat-server §2, §9). Pure. */
import * as v from 'valibot';
import { MINUTE, type Micros, SECOND } from '../../../runtime/clock.ts';
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
import type { ChatRequest, OperationName } from './operations.ts';

/** A longer wait than this is a failure like any other. */
const LONGEST_WAIT: Micros = 15 * MINUTE;

/** The address is wrong for every call: it is never followed, and delivery waits until it is corrected. */
const MISCONFIGURED = ': enter the address that answers itself as the server URL of the Connection';

export interface ChatFailure {
  readonly code: ErrorCode;
  /** Of the answer; null without one. */
  readonly status: number | null;
  /** The server's id of the error; null where it named none. */
  readonly id: string | null;
  /** For people; masked. The server's own words are not to be trusted. */
  readonly error: string;
}

/** Outcomes as all deliveries count them, and what only messages can come to. */
export type ChatOutcome<Value> =
  | { readonly class: 'ok'; readonly value: Value }
  /** Everything of the bot has to wait: the server counts the requests of one address, or of one token. */
  | ({ readonly class: 'retry_after'; readonly until: Micros } & ChatFailure)
  | ({
      readonly class: 'transient' | 'fatal' | 'unknown' | 'gone' | 'edit_window_closed';
    } & ChatFailure)
  /** The service stops, or the caller had given up when the connection was open. */
  | { readonly class: 'not_sent' };

export type ChatFailed = Exclude<ChatOutcome<never>, { readonly class: 'ok' | 'not_sent' }>;

/** The error body; `detailed_error` may hold the token and is never read. */
const ErrorBody = v.object({
  id: v.pipe(v.string(), v.maxLength(256)),
  message: v.fallback(v.string(), ''),
});

/** Answered to a path that the server does not have. */
const NO_SUCH_PATH = 'api.context.404.app_error';
const NOTHING_HERE = 'nothing here: check the path prefix (404)';
export const TOKEN_REFUSED = 'The server refuses the bot token.';
export const NO_JSON = 'not the answer that a Mattermost server gives';

/** 400s that concern the channel and not the one message. */
const CLOSED_CHANNEL = new Set([
  'api.post.create_post.can_not_post_to_deleted.error',
  'api.post.patch_post.can_not_update_post_in_deleted.error',
  'api.post.update_post.can_not_update_post_in_deleted.error',
]);
/** 400s to a reply: its Root message was deleted, or moved to another channel. */
const ROOT_GONE = new Set([
  'api.post.create_post.root_id.app_error',
  'api.post.create_post.channel_root_id.app_error',
]);
const EDIT_WINDOW_CLOSED = 'api.post.update_post.permissions_time_limit.app_error';
/** A 403 that a repeat of the same post without `silent` avoids. */
export const SILENCE_REFUSED = 'api.post.create_post.silent_notification.app_error';

/** Of an answer that is no redirect. */
export function answerOutcome<Value>(
  answer: OutboundAnswer,
  context: VerdictContext,
  request: Pick<ChatRequest<Value>, 'operation' | 'isReply' | 'read'>,
): Exclude<ChatOutcome<Value>, { class: 'not_sent' }> {
  const { status } = answer;
  const json = parseStorable(answer.body);
  if (status < 200 || status >= 300) return refusal(answer, context, request, json);
  const value = json === undefined ? null : request.read(json);
  if (value !== null) return { class: 'ok', value };
  // A proxy's page, or an empty body: it says nothing about what the server did.
  return { class: 'transient', code: 'response_invalid', status, id: null, error: NO_JSON };
}

/** Of a request without an answer, or with one that the client itself did not like. */
export function unansweredOutcome(verdict: Verdict, status: number | null): ChatOutcome<never> {
  const failed = unanswered(verdict, { redirect: 'fatal', error: MISCONFIGURED });
  return failed ? { ...failed, status, id: null } : { class: 'not_sent' };
}

/** The same in the words that all owners share. */
export function verdictOf(outcome: Exclude<ChatOutcome<unknown>, { class: 'not_sent' }>): Verdict {
  if (outcome.class === 'ok') return { class: 'ok' };
  const { code, error } = outcome;
  if (outcome.class === 'retry_after') return { class: 'retry_after', code, error, until: outcome.until };
  // A message past its edit window is closed to edits, as one that was deleted is.
  const kind = outcome.class === 'edit_window_closed' ? 'gone' : outcome.class;
  return { class: kind, code, error };
}

function refusal(
  answer: OutboundAnswer,
  { now, mask }: VerdictContext,
  request: Pick<ChatRequest<unknown>, 'operation' | 'isReply'>,
  json: unknown,
): ChatFailed {
  const { status } = answer;
  const read = v.safeParse(ErrorBody, json);
  const id = read.success ? read.output.id : null;
  const failure = {
    ...({ code: 'http_status', status, id } as const),
    error: textOf(status, id, read.success ? errorLine(read.output.message, mask) : ''),
  };
  const until = retryAfter(answer.headers['retry-after'], now);
  const named = classOf(request, status, id, until !== null);
  if (named !== 'retry_after') return { class: named, ...failure };
  if (until === null || until - now > LONGEST_WAIT) return { class: 'transient', ...failure };
  const seconds = Math.ceil((until - now) / SECOND);
  return { class: 'retry_after', until, ...failure, error: `${failure.error}, asked to wait ${seconds} s` };
}

function textOf(status: number, id: string | null, said: string): string {
  if (status === 401) return TOKEN_REFUSED;
  if (status === 404 && (id === null || id === NO_SUCH_PATH)) return NOTHING_HERE;
  return said === '' ? `answered ${status}` : `answered ${status}: ${said}`;
}

/** Decided by status and id alone: the texts are in the language of the server or the bot. */
function classOf(
  { operation, isReply }: Pick<ChatRequest<unknown>, 'operation' | 'isReply'>,
  status: number,
  id: string | null,
  namesWait: boolean,
): ChatFailed['class'] {
  if (status === 401 || status === 403) return 'fatal';
  if (status === 404) return classOf404(operation, id);
  if (status === 400) return classOf400(operation, isReply, id ?? '');
  if (status === 429 || (status === 503 && namesWait)) return 'retry_after';
  if (status === 408 || (status >= 500 && status !== 501)) return 'transient';
  return 'unknown';
}

/** Nothing is gone because a proxy does not find it: only the server knows its posts. */
function classOf404(operation: OperationName, id: string | null): 'unknown' | 'fatal' | 'gone' {
  if (id === null || id === NO_SUCH_PATH || operation === 'createPost') return 'fatal';
  return operation === 'patchPost' || operation === 'getPost' ? 'gone' : 'unknown';
}

function classOf400(
  operation: OperationName,
  isReply: boolean,
  id: string,
): 'unknown' | 'fatal' | 'gone' | 'edit_window_closed' {
  if (isReply && ROOT_GONE.has(id)) return 'gone';
  if (CLOSED_CHANNEL.has(id) || id.endsWith('_in_restricted_dm.error')) return 'fatal';
  return operation === 'patchPost' && id === EDIT_WINDOW_CLOSED ? 'edit_window_closed' : 'unknown';
}
