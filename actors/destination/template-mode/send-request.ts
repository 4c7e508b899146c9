/** Makes one request of a template-mode webhook, and says what came of it and what its answer held (webhooks §4). */
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { OutboundCall, OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import { createMask, type Mask } from '../../../runtime/secrets/masking.ts';
import { newEventId } from '../event-id.ts';
import type { SentOutcome } from '../messages.ts';
import { sentOutcome, WEBHOOK_MAPPING } from '../webhook-answer.ts';
import type { SealedSettings } from '../webhook-opening.ts';
import { buildTemplateRequest, type WantedRequest } from './build-request.ts';
import { type Extraction, extractValues } from './extraction.ts';

const ANSWER_LIMIT = 64 * 1024;
export const TIMEOUT: Micros = 10 * SECOND;

export interface RequestDeps {
  readonly caller: OutboundCaller;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
}

export interface RequestOptions {
  readonly class: OutboundCall['request']['class'];
  readonly timeout: Micros;
  readonly mayBegin?: () => boolean;
  readonly about: Omit<NonNullable<OutboundCall['about']>, 'operation' | 'connectionId'>;
  readonly observe?: OutboundCall['observe'];
}

export type RequestOutcome =
  /** `unsure`: it was written, and there is no answer. */
  | (Exclude<SentOutcome, { readonly class: 'ok' }> & { readonly unsure: boolean })
  | { readonly class: 'ok'; readonly extraction: Extraction; readonly mask: Mask }
  | { readonly class: 'not_sent' };

/** One attempt with a `webhook-id` of its own. */
export async function sendRequest(
  deps: RequestDeps,
  sealed: SealedSettings,
  wanted: WantedRequest,
  options: RequestOptions,
): Promise<RequestOutcome> {
  const { keyring, clock } = deps;
  const eventId = newEventId(deps.random);
  const built = buildTemplateRequest(wanted, { sealed, keyring, eventId, now: clock.now() });
  if (built.outcome === 'template_error') {
    const error = createMask(built.secrets)(built.error);
    return { class: 'template_error', error, unsure: false };
  }
  if (built.outcome === 'secret_unreadable') {
    deps.log('secret_unreadable', { field: built.field, owner: built.owner, key_id: built.keyId });
    return { class: 'fatal', error: 'secret_unreadable', unsure: false };
  }
  let hasBegun = false;
  const called = await deps.caller.call({
    request: {
      owner: `destination/${sealed.id}`,
      class: options.class,
      proxy: built.proxy,
      credentials: sealed.version,
      method: built.method,
      url: built.url,
      headers: built.headers,
      body: built.body,
      timeout: options.timeout,
      answerLimit: ANSWER_LIMIT,
      mayBegin() {
        hasBegun = options.mayBegin?.() ?? true;
        return hasBegun;
      },
    },
    secrets: built.secrets,
    secretHeaders: built.secretHeaders,
    mapping: WEBHOOK_MAPPING,
    about: { ...options.about, operation: wanted.role, connectionId: null },
    ...(options.observe ? { observe: options.observe } : {}),
  });
  const { result } = called;
  if (result.kind === 'failed' && (result.code === 'withheld' || result.code === 'cancelled')) {
    return { class: 'not_sent' };
  }
  const outcome = sentOutcome(called);
  if (outcome.class !== 'ok') return { ...outcome, unsure: hasBegun && result.kind === 'failed' };
  const body = result.kind === 'answer' && !result.tooLarge ? result.body : null;
  const extraction = extractValues(wanted.template.extract, body);
  return { class: 'ok', extraction, mask: createMask(built.secrets) };
}
