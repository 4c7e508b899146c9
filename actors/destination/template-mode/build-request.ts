/** Makes one template-mode request with the settings of this moment (webhooks §4.2). */
import type { Micros } from '../../../runtime/clock.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import { callableUrl, HEADER_VALUE } from '../webhook-config.ts';
import {
  type Opening,
  type ReadyRequest,
  type RefusedRequest,
  type SealedSettings,
  Unrenderable,
  withOpened,
} from '../webhook-opening.ts';
import type { RequestRole, RequestTemplate, TemplateConfig } from './configuration.ts';
import {
  parseRequest,
  placedText,
  type RenderedRequest,
  type RequestTemplates,
  renderRequest,
} from './request-template.ts';
import { contextOf, dataOf, type Telling, type TellingSettings, type ToldSubject } from './told.ts';

/** The settings of a template-mode Destination with its Secrets still sealed. */
export interface TemplateSettings extends SealedSettings {
  readonly template: TemplateConfig;
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

export interface ReadyTemplateRequest extends ReadyRequest {
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
    if (!HEADER_VALUE.test(value)) throw new Unrenderable(`${role}, header ${name}: must be printable ASCII`);
  }
  const url = callableUrl(rendered.url);
  if (!url) throw new Unrenderable(`${role}: this is not an absolute http or https URL`);
  const body = Buffer.from(rendered.body, 'utf8');
  const headers = withContentType(rendered);
  const ready = opening.sign({ url, headers, eventId, body, now });
  return { ...ready, method: rendered.method, body: body.length > 0 ? body : null };
}

function render(wanted: WantedRequest, request: RequestTemplates, opening: Opening): RenderedRequest {
  const { role, subject, settings, values: response } = wanted;
  const secrets = opening.secrets(request.secrets, role);
  const data = dataOf(subject, { ...wanted.telling, secrets, response }, settings);
  const result = renderRequest(request, data, contextOf(settings));
  if (!result.ok) throw new Unrenderable(placedText(result.error, role));
  return result.rendered;
}

function withContentType({ headers, body }: RenderedRequest): RenderedRequest['headers'] {
  const isSet = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return body === '' || isSet ? headers : [...headers, ['Content-Type', 'application/json']];
}
