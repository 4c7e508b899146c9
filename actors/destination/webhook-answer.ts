/** What an answer to an events-mode request means (seed 3 §7, webhooks §3.4). */
import type { Called } from '../../runtime/outbound/caller.ts';
import type { AnswerMapping } from '../../runtime/outbound/verdict.ts';
import type { SentOutcome } from './messages.ts';

const FATAL = new Set([401, 403, 404, 410]);

/** What the receiver says counts by its status, however much it says. */
export const WEBHOOK_MAPPING: AnswerMapping = {
  status(status) {
    if (FATAL.has(status)) return 'fatal';
    return status === 408 || status === 429 || status >= 500 ? 'transient' : 'unknown';
  },
  ignoresSize: true,
};

/** What becomes of the event and of the Destination. Errors are masked already. */
export function sentOutcome({ result, verdict }: Called): SentOutcome {
  switch (verdict.class) {
    case 'ok':
      return { class: 'ok', status: result.kind === 'answer' ? result.status : 0 };
    case 'retry_after':
      return { class: 'retry_after', until: verdict.until, error: verdict.error };
    case 'blocked':
    case 'gone':
      return { class: 'fatal', error: verdict.error };
    case 'redirect':
      return { class: 'unknown', error: verdict.error };
    default:
      return { class: verdict.class, error: verdict.error };
  }
}
