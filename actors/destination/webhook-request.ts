/** Makes one events-mode request: fills in Secrets and signs (webhooks §1.1, §3.1). */
import type { Micros } from '../../runtime/clock.ts';
import type { Keyring } from '../../runtime/secrets/keyring.ts';
import type { Effort } from '../templates/index.ts';
import { parseSecretTemplate, renderSecretTemplate } from './secret-template.ts';
import { callableUrl, type EventsConfig, HEADER_VALUE } from './webhook-config.ts';
import {
  type Opening,
  type ReadyRequest,
  type RefusedRequest,
  type SealedSettings,
  Unrenderable,
  withOpened,
} from './webhook-opening.ts';

/** The settings of an events-mode Destination with its Secrets still sealed. */
export interface WebhookSettings extends SealedSettings {
  readonly events: EventsConfig;
}

export type BuiltRequest = ReadyRequest | RefusedRequest;

export interface RequestParts {
  readonly settings: WebhookSettings;
  readonly keyring: Keyring;
  readonly eventId: string;
  readonly body: Buffer;
  readonly now: Micros;
}

/** Builds the request with the settings of this moment. */
export function buildWebhookRequest(parts: RequestParts): BuiltRequest {
  return withOpened(parts.settings, parts.keyring, (opening) => build(parts, opening));
}

function build({ settings, eventId, body, now }: RequestParts, opening: Opening): ReadyRequest {
  const moment = { now, effort: { steps: 0 } };
  const headers = settings.events.headers.map(({ name, value: source }, index) => {
    const place = `/events/headers/${index}/value`;
    const { text, holdsSecret } = render(opening, source, place, moment);
    if (holdsSecret) opening.hideHeader(name, text);
    if (!HEADER_VALUE.test(text)) throw new Unrenderable(`${place}: a header value must be printable ASCII`);
    return [name, text] as const;
  });
  const url = callableUrl(render(opening, settings.events.url, '/events/url', moment).text);
  if (!url) throw new Unrenderable('/events/url: this is not an absolute http or https URL');
  return opening.sign({
    url,
    headers: [...headers, ['Content-Type', 'application/json']],
    eventId,
    body,
    now,
  });
}

function render(
  opening: Opening,
  source: string,
  place: string,
  { now, effort }: { readonly now: Micros; readonly effort: Effort },
) {
  const parsed = parseSecretTemplate(source);
  if (!parsed.ok) throw unrenderable(place, parsed.error);
  const rendered = renderSecretTemplate(parsed.template, opening.secrets(parsed.reads, place), now, effort);
  if (!rendered.ok) throw unrenderable(place, rendered.error);
  return { text: rendered.text, holdsSecret: parsed.reads.length > 0 };
}

function unrenderable(
  place: string,
  { line, column, message }: { readonly line: number; readonly column: number; readonly message: string },
): Unrenderable {
  return new Unrenderable(`${place}, line ${line}, column ${column}: ${message}`);
}
