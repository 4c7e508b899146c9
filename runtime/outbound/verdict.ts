/**
 * What came of a request (outbound-http §1.2, §4.4): the same classes for every owner. Only what a status or a body
 * means is the owner's own, and comes as a mapping.
 */
import { type Micros, SECOND } from '../clock.ts';
import { cutToBytes, type Mask, maskShapes, maskUrl } from '../secrets/masking.ts';
import type { OutboundAnswer, OutboundResult } from './client.ts';
import type { FailureCode } from './failure.ts';

/** Classes of failed requests, those of callbacks included. */
export const ERROR_CLASSES = [
  'retry_after',
  'transient',
  'fatal',
  'unknown',
  'blocked',
  'redirect',
  'gone',
  'refused',
  'failed',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

export type ErrorCode =
  | Exclude<FailureCode, 'withheld'>
  | 'policy_blocked'
  | 'redirect_refused'
  | 'response_too_large'
  | 'http_status'
  | 'signature_invalid'
  | 'timestamp_out_of_range'
  | 'mode_mismatch'
  | 'body_invalid'
  | 'id_mismatch'
  | 'action_invalid'
  | 'handler_failed';

type FailedClass = 'transient' | 'fatal' | 'unknown' | 'blocked' | 'redirect' | 'gone';

/** Errors are masked, one line, and untrusted wherever they are shown. */
export type Verdict =
  /** A poll that brought nothing says so: of those in a row only the newest stays in the Request log. */
  | { readonly class: 'ok'; readonly isEmptyPoll?: true }
  /** Nothing may be sent before `until`. */
  | {
      readonly class: 'retry_after';
      readonly code: ErrorCode;
      readonly error: string;
      readonly until: Micros;
    }
  | { readonly class: FailedClass; readonly code: ErrorCode; readonly error: string };

/** What an answer means to one kind of owner. */
export interface AnswerMapping {
  /** Of a status that is neither 2xx nor a redirect, and asked for no wait. */
  status(status: number): 'transient' | 'fatal' | 'unknown' | 'gone';
  /** Judges every answer that is no redirect, where the body says more than the status. */
  answer?(answer: OutboundAnswer, context: VerdictContext): Verdict;
  /** An answer counts by its status however large it is; otherwise a large one is `unknown`. */
  readonly ignoresSize?: true;
  /** What one comes to that is too large or no HTTP: `unknown`, if not given. */
  readonly unreadable?: 'transient' | 'unknown';
}

export interface VerdictContext {
  readonly url: URL;
  /** When the answer came. */
  readonly now: Micros;
  /** Knows every secret of the owner. */
  readonly mask: Mask;
}

const TRANSIENT = new Set([408, 429, 500, 502, 503, 504]);
const FATAL = new Set([400, 401, 403, 404]);

/** For whoever has no mapping of its own: identity providers and the outgoing heartbeat. */
export const DEFAULT_MAPPING: AnswerMapping = {
  status(status) {
    if (TRANSIENT.has(status)) return 'transient';
    return FATAL.has(status) ? 'fatal' : 'unknown';
  },
};

export function judgeResult(
  result: OutboundResult,
  mapping: AnswerMapping,
  context: VerdictContext,
): Verdict {
  if (result.kind === 'blocked') {
    return { class: 'blocked', code: 'policy_blocked', error: context.mask(result.refusal.error) };
  }
  if (result.kind === 'failed') {
    const code = result.code === 'withheld' ? 'cancelled' : result.code;
    const kind = code === 'response_invalid' ? (mapping.unreadable ?? 'unknown') : 'transient';
    return { class: kind, code, error: context.mask(result.error) };
  }
  return judgeAnswer(result, mapping, context);
}

/** Whether a status sends the caller elsewhere; nobody is ever followed. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

function judgeAnswer(answer: OutboundAnswer, mapping: AnswerMapping, context: VerdictContext): Verdict {
  const { status, headers } = answer;
  if (answer.tooLarge && !mapping.ignoresSize) {
    const error = `answered ${status} with too much`;
    return { class: mapping.unreadable ?? 'unknown', code: 'response_too_large', error };
  }
  if (isRedirect(status)) {
    const error = redirectText(context.url, headers.location, context.mask);
    return { class: 'redirect', code: 'redirect_refused', error };
  }
  if (mapping.answer) return mapping.answer(answer, context);
  if (status >= 200 && status < 300) return { class: 'ok' };
  const until = status === 429 || status === 503 ? retryAfter(headers['retry-after'], context.now) : null;
  if (until !== null) {
    const seconds = Math.ceil((until - context.now) / SECOND);
    const error = `answered ${status}, asked to wait ${seconds} s`;
    return { class: 'retry_after', code: 'http_status', error, until };
  }
  return { class: mapping.status(status), code: 'http_status', error: answeredText(answer, context.mask) };
}

function answeredText(answer: OutboundAnswer, mask: Mask): string {
  const text = errorLine(answer.body.toString('utf8'), mask);
  return text === '' ? `answered ${answer.status}` : `answered ${answer.status}: ${text}`;
}

/** What another side says about an error, for people: its first bytes as one line (outbound-http §1.2). */
const SHOWN_BYTES = 1024;
/** Characters that are looked at, and those at their end that may be a secret which the cut went through. */
const LOOKED_AT = 128 * 1024;
const OVERLAP = 96 * 1024;

/** Masked before it is cut, so that no part of a secret shows. */
export function errorLine(said: string, mask: Mask): string {
  const isWhole = said.length <= LOOKED_AT;
  const masked = mask(isWhole ? said : said.slice(0, LOOKED_AT));
  const safe = isWhole ? masked : masked.slice(0, Math.max(0, masked.length - OVERLAP));
  return cutToBytes(safe.replace(/[\s\p{Cc}]+/gu, ' ').trim(), SHOWN_BYTES);
}

/**
 * What an answer with a redirect status says for people (outbound-http §1.3): its target, resolved against the
 * request's URL and masked. Redirects are never followed.
 */
export function redirectText(requested: URL, location: string | undefined, mask: Mask = maskShapes): string {
  if (location === undefined || location === '') return 'redirect without Location';
  if (!URL.canParse(location, requested.href)) return 'redirect without a usable Location';
  return `redirect to ${maskUrl(new URL(location, requested), mask)} not followed`;
}

const LONGEST_SECONDS = 31_536_000;

/**
 * Reads a `Retry-After` header (outbound-http §1.2): whole seconds up to a year, or an HTTP date.
 * @returns the instant before which nothing may be sent (µs; a past date gives `now`), or null when it is unusable
 */
export function retryAfter(header: string | undefined, now: Micros): Micros | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) {
    const seconds = Number(text);
    return seconds <= LONGEST_SECONDS ? now + seconds * SECOND : null;
  }
  if (!/^[A-Z][a-z]{2,8}[, ]/.test(text)) return null;
  // The oldest of the three HTTP date forms names no zone and means UTC all the same.
  const millis = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(millis) ? null : Math.max(now, millis * 1000);
}

/**
 * What a request without an answer, or with one that the client did not like, comes to for a channel.
 * @param as the class of a redirect, and what to do about it
 * @returns null: it was not sent, as the service stops or the caller had given up when the connection was open
 */
export function unanswered(
  verdict: Verdict,
  as: { readonly redirect: 'fatal' | 'unknown'; readonly error: string },
): {
  readonly class: 'transient' | 'fatal' | 'unknown';
  readonly code: ErrorCode;
  readonly error: string;
} | null {
  if (verdict.class === 'ok' || verdict.code === 'cancelled') return null;
  const { code, error } = verdict;
  if (verdict.class === 'blocked') return { class: 'fatal', code, error };
  if (verdict.class === 'redirect') return { class: as.redirect, code, error: error + as.error };
  return { class: verdict.class === 'transient' ? 'transient' : 'unknown', code, error };
}
