/** What an answer to an events-mode request means (seed 3 §7, webhooks §3.4). */
import type { Micros } from '../../runtime/clock.ts';
import { SECOND } from '../../runtime/clock.ts';
import type { OutboundAnswer, OutboundResult } from '../../runtime/outbound/client.ts';
import { redirectText } from '../../runtime/outbound/redirect.ts';
import { retryAfter } from '../../runtime/outbound/retry-after.ts';
import { cutToBytes, type Mask } from '../../runtime/secrets/masking.ts';
import type { SentOutcome } from './messages.ts';

const ANSWER_TEXT_BYTES = 1024;
const FATAL = new Set([401, 403, 404, 410]);

export interface AnswerContext {
  readonly url: URL;
  /** When the answer came. */
  readonly now: Micros;
  /** Knows every secret of the request. */
  readonly mask: Mask;
}

/** Maps what happened to a request to what becomes of the event and of the Destination. Errors come out masked. */
export function classifyWebhookAnswer(result: OutboundResult, context: AnswerContext): SentOutcome {
  if (result.kind === 'blocked') return { class: 'fatal', error: context.mask(result.refusal.error) };
  if (result.kind === 'failed') {
    const error = context.mask(result.error);
    return { class: result.code === 'response_invalid' ? 'unknown' : 'transient', error };
  }
  const { status } = result;
  if (status >= 200 && status < 300) return { class: 'ok', status };
  if (isRedirect(status)) {
    return { class: 'unknown', error: context.mask(redirectText(context.url, result.headers.location)) };
  }
  return classifyRefusal(result, context);
}

function classifyRefusal(answer: OutboundAnswer, context: AnswerContext): SentOutcome {
  const { status } = answer;
  const until =
    status === 429 || status === 503 ? retryAfter(answer.headers['retry-after'], context.now) : null;
  if (until !== null) {
    const seconds = Math.ceil((until - context.now) / SECOND);
    return { class: 'retry_after', until, error: `answered ${status}, asked to wait ${seconds} s` };
  }
  const error = answeredText(answer, context.mask);
  if (FATAL.has(status)) return { class: 'fatal', error };
  const transient = status === 408 || status === 429 || status >= 500;
  return { class: transient ? 'transient' : 'unknown', error };
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

/** The first bytes of the answer as one line. Masked before it is cut, so that no part of a secret shows. */
function answeredText(answer: OutboundAnswer, mask: Mask): string {
  const masked = mask(answer.body.toString('utf8'));
  const text = cutToBytes(masked.replace(/[\s\p{Cc}]+/gu, ' ').trim(), ANSWER_TEXT_BYTES);
  return text === '' ? `answered ${answer.status}` : `answered ${answer.status}: ${text}`;
}
