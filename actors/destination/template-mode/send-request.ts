/** Makes one request of a template-mode webhook, and says what came of it and what its answer held (webhooks §4). */
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Called, OutboundCall, OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';
import { newEventId } from '../event-id.ts';
import type { SentOutcome } from '../messages.ts';
import { sentOutcome, WEBHOOK_MAPPING } from '../webhook-answer.ts';
import type { ReadyRequest, RefusedRequest, SealedSettings } from '../webhook-opening.ts';
import { buildTemplateRequest, type ReadyTemplateRequest, type WantedRequest } from './build-request.ts';
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
  | { readonly class: 'ok'; readonly extraction: Extraction }
  | { readonly class: 'not_sent' };

/** A request that can be sent. */
export type SendableRequest = ReadyRequest & Pick<ReadyTemplateRequest, 'method' | 'body'>;

/** Sends what was built. @param operation as the Request log names it */
export async function callReady(
  { caller }: Pick<RequestDeps, 'caller'>,
  { id, version }: Pick<SealedSettings, 'id' | 'version'>,
  ready: SendableRequest,
  operation: string,
  options: RequestOptions,
): Promise<{ readonly called: Called; readonly hasBegun: boolean }> {
  let hasBegun = false;
  const called = await caller.call({
    request: {
      owner: `destination/${id}`,
      class: options.class,
      proxy: ready.proxy,
      credentials: version,
      method: ready.method,
      url: ready.url,
      headers: ready.headers,
      body: ready.body,
      timeout: options.timeout,
      answerLimit: ANSWER_LIMIT,
      mayBegin() {
        hasBegun = options.mayBegin?.() ?? true;
        return hasBegun;
      },
    },
    secrets: ready.secrets,
    secretHeaders: ready.secretHeaders,
    mapping: WEBHOOK_MAPPING,
    about: { ...options.about, operation, connectionId: null },
    ...(options.observe ? { observe: options.observe } : {}),
  });
  return { called, hasBegun };
}

/** Why nothing was sent, masked. */
export function refusal(
  { log }: Pick<RequestDeps, 'log'>,
  refused: RefusedRequest,
): { readonly class: 'template_error' | 'fatal'; readonly error: string } {
  if (refused.outcome === 'template_error') {
    return { class: 'template_error', error: createMask(refused.secrets)(refused.error) };
  }
  log('secret_unreadable', { field: refused.field, owner: refused.owner, key_id: refused.keyId });
  return { class: 'fatal', error: 'secret_unreadable' };
}

/** What the answer held; nothing that was too large. */
export function extractionOf({ template }: WantedRequest, { result }: Called): Extraction {
  const body = result.kind === 'answer' && !result.tooLarge ? result.body : null;
  return extractValues(template.extract, body);
}

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
  if (built.outcome !== 'ready') return { ...refusal(deps, built), unsure: false };
  const { called, hasBegun } = await callReady(deps, sealed, built, wanted.role, options);
  const { result } = called;
  if (result.kind === 'failed' && (result.code === 'withheld' || result.code === 'cancelled')) {
    return { class: 'not_sent' };
  }
  const outcome = sentOutcome(called);
  if (outcome.class !== 'ok') return { ...outcome, unsure: hasBegun && result.kind === 'failed' };
  return { class: 'ok', extraction: extractionOf(wanted, called) };
}
