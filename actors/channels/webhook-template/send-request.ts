/** Makes one request of a template-mode webhook, and says what came of it and what its answer held (webhooks §4). */
import { type Clock, type Micros, SECOND } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Called, OutboundCall, OutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';
import { newEventId } from '../../destination/messages.ts';
import type { SealedSettings } from '../../destination/ports.ts';
import {
  callableUrl,
  type ExtractionRule,
  HEADER_VALUE,
  type RequestRole,
  type RequestTemplate,
} from '../../destination/webhook-config.ts';
import { JsonNumber, type JsonValue, readJson } from '../../json-path/json.ts';
import { parsePath } from '../../json-path/parse.ts';
import { selectNodes } from '../../json-path/select.ts';
import {
  type Opening,
  type ReadyRequest,
  type RefusedRequest,
  Unrenderable,
  withOpened,
} from '../webhook-events/opening.ts';
import { type SentOutcome, sentOutcome, WEBHOOK_MAPPING } from '../webhook-events/request.ts';
import { contextOf, dataOf, type Telling, type TellingSettings, type ToldSubject } from './request-data.ts';
import {
  parseRequest,
  placedText,
  placeText,
  type RenderedRequest,
  type RequestTemplates,
  renderRequest,
} from './request-template.ts';

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
  | (Exclude<SentOutcome | ReturnType<typeof refusal>, { readonly class: 'ok' }> & {
      readonly unsure: boolean;
    })
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

/** Takes values out of an answer (webhooks §4.4). */
const VALUE_BYTES = 4096;

interface Extraction {
  /** By the names of their rules. */
  readonly values: Readonly<Record<string, string>>;
  /** Names of rules that found nothing. */
  readonly missing: readonly string[];
}

/** @param body null: there was more than can be read */
export function extractValues(rules: readonly ExtractionRule[], body: Buffer | null): Extraction {
  if (rules.length === 0) return { values: {}, missing: [] };
  const json = body && readJson(body.toString('utf8'));
  const found = rules.map(({ name, path }) => [name, json ? valueAt(path, json.value) : null] as const);
  return {
    values: Object.fromEntries(found.flatMap(([name, value]) => (value === null ? [] : [[name, value]]))),
    missing: found.flatMap(([name, value]) => (value === null ? [name] : [])),
  };
}

function valueAt(path: string, root: JsonValue): string | null {
  const parsed = parsePath(path);
  const [first] = parsed.ok ? (selectNodes(parsed.path, root) ?? []) : [];
  const text = first === undefined ? null : textOf(first);
  return text !== null && Buffer.byteLength(text) <= VALUE_BYTES ? text : null;
}

function textOf(value: JsonValue): string | null {
  if (typeof value === 'string') return value;
  if (value instanceof JsonNumber) return value.source;
  return typeof value === 'boolean' ? String(value) : null;
}

export interface WantedRequest {
  readonly role: RequestRole;
  readonly template: RequestTemplate;
  readonly subject: ToldSubject;
  readonly telling: Telling;
  /** Extracted so far. */
  readonly values: Readonly<Record<string, string>>;
  readonly settings: TellingSettings;
}

interface ReadyTemplateRequest extends ReadyRequest {
  readonly method: string;
  /** Null: none. */
  readonly body: Buffer | null;
}

export type BuiltTemplateRequest = ReadyTemplateRequest | RefusedRequest;

export interface BuildDeps {
  readonly sealed: SealedSettings;
  readonly keyring: Keyring;
  /** `webhook-id`. */
  readonly eventId: string;
  readonly now: Micros;
}

export function buildTemplateRequest(wanted: WantedRequest, deps: BuildDeps): BuiltTemplateRequest {
  return withOpened(deps.sealed, deps.keyring, (opening) => build(wanted, deps, opening));
}

function build(wanted: WantedRequest, { eventId, now }: BuildDeps, opening: Opening): ReadyTemplateRequest {
  const { role, template } = wanted;
  const parsed = parseRequest(template.request, null);
  if (!parsed.ok) throw new Unrenderable(placedText(parsed.error, role));
  const rendered = render(wanted, parsed.request, opening);
  for (const [index, [name, value]] of rendered.headers.entries()) {
    if (parsed.request.headers[index]?.value.readsSecret) opening.hideHeader(name, value);
    if (!HEADER_VALUE.test(value)) {
      const place = parsed.request.headers[index]?.value ?? parsed.request.url;
      const message = `the value of the header ${name} must be printable ASCII`;
      throw new Unrenderable(placedText({ ...place, message }, role));
    }
  }
  const url = callableUrl(rendered.url);
  if (!url) {
    const message = 'this is not an absolute http or https URL';
    throw new Unrenderable(placedText({ ...parsed.request.url, message }, role));
  }
  const body = Buffer.from(rendered.body, 'utf8');
  const headers = withContentType(rendered);
  const ready = opening.sign({ url, headers, eventId, body, now });
  return { ...ready, method: rendered.method, body: body.length > 0 ? body : null };
}

function render(wanted: WantedRequest, request: RequestTemplates, opening: Opening): RenderedRequest {
  const { role, subject, settings, values: response } = wanted;
  const reads = new Map([...request.secrets].map(([name, place]) => [name, placeText(place, role)]));
  const secrets = opening.secrets(reads);
  const data = dataOf(subject, { ...wanted.telling, secrets, response }, settings);
  const result = renderRequest(request, data, contextOf(settings));
  if (!result.ok) throw new Unrenderable(placedText(result.error, role));
  return result.rendered;
}

function withContentType({ headers, body }: RenderedRequest): RenderedRequest['headers'] {
  const isSet = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return body === '' || isSet ? headers : [...headers, ['Content-Type', 'application/json']];
}
