/** Makes one events-mode request: body, Secrets, signature; and says what its answer means (webhooks §3). */
import { formatInstant, formatInstantOrNull, type Micros } from '../../../runtime/clock.ts';
import type { Called } from '../../../runtime/outbound/caller.ts';
import type { AnswerMapping } from '../../../runtime/outbound/verdict.ts';
import type { Keyring } from '../../../runtime/secrets/keyring.ts';
import type { WebhookSettings } from '../../destination/ports.ts';
import {
  callableUrl,
  HEADER_VALUE,
  parseSecretTemplate,
  renderSecretTemplate,
  WHOLE_VALUE,
} from '../../destination/webhook-config.ts';
import type { WebhookEventRecorded } from '../../effects.ts';
import type { AlertView, EventActor, GroupView } from '../../model.ts';
import type { Effort } from '../../templates/index.ts';
import { type Opening, type ReadyRequest, type RefusedRequest, Unrenderable, withOpened } from './opening.ts';

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
    const field = `/events/headers/${index}/value`;
    const { text, holdsSecret } = render(opening, source, field, moment);
    if (holdsSecret) opening.hideHeader(name, text);
    if (!HEADER_VALUE.test(text)) {
      throw unrenderable(field, { ...WHOLE_VALUE, message: 'a header value must be printable ASCII' });
    }
    return [name, text] as const;
  });
  const url = callableUrl(render(opening, settings.events.url, '/events/url', moment).text);
  if (!url) {
    throw unrenderable('/events/url', {
      ...WHOLE_VALUE,
      message: 'this is not an absolute http or https URL',
    });
  }
  return opening.sign({
    url,
    headers: [...headers, ['Content-Type', 'application/json']],
    eventId,
    body,
    now,
  });
}

interface Place {
  readonly line: number;
  readonly column: number;
}

function render(
  opening: Opening,
  source: string,
  field: string,
  { now, effort }: { readonly now: Micros; readonly effort: Effort },
) {
  const parsed = parseSecretTemplate(source);
  if (!parsed.ok) throw unrenderable(field, parsed.error);
  const reads = new Map([...parsed.reads].map(([name, place]) => [name, placeText(field, place)]));
  const rendered = renderSecretTemplate(parsed.template, opening.secrets(reads), now, effort);
  if (!rendered.ok) throw unrenderable(field, rendered.error);
  return { text: rendered.text, holdsSecret: reads.size > 0 };
}

function unrenderable(
  field: string,
  { message, ...place }: Place & { readonly message: string },
): Unrenderable {
  return new Unrenderable(`${placeText(field, place)}: ${message}`);
}

function placeText(field: string, { line, column }: Place): string {
  return `${field}, line ${line}, column ${column}`;
}

/** The body of an events-mode webhook, version 1 (webhooks §3.3). The order of keys is part of it. */
export type WebhookBodyInput = Pick<WebhookEventRecorded, 'event' | 'group' | 'mentions'>;

/**
 * Renders the body once, when the event is recorded; retries send the same bytes.
 * @param number #N of the Alert Group
 * @param publicUrl address of the UI, without a trailing slash
 */
export function renderWebhookBody(input: WebhookBodyInput, number: number, publicUrl: string): string {
  const { event, group } = input;
  const loud = event.loudness === 'loud';
  return JSON.stringify({
    version: 1,
    event: event.name,
    notify: loud,
    mentions: loud ? input.mentions : [],
    sequence: event.sequence,
    occurred_at: formatInstant(event.at),
    actor: actorShape(event.actor),
    alert_group: groupShape(group, number, publicUrl),
    alerts: group.alerts.map(alertShape),
  });
}

/** The body of a test: Quiet, outside every sequence, by whoever asked for it (webhooks §6). */
export function renderTestBody(
  { actor, at, group }: { readonly actor: EventActor; readonly at: Micros; readonly group: GroupView },
  number: number,
  publicUrl: string,
): string {
  return JSON.stringify({
    version: 1,
    event: 'test',
    notify: false,
    mentions: [],
    sequence: 0,
    occurred_at: formatInstant(at),
    actor: actorShape(actor),
    alert_group: groupShape(group, number, publicUrl),
    alerts: group.alerts.map(alertShape),
    test: true,
  });
}

function actorShape(actor: EventActor): object {
  if (actor.kind === 'system') return { kind: actor.kind, reason: actor.reason };
  const { kind, id, name, transport } = actor;
  if (kind === 'service_account') return { kind, id, name, token_name: actor.tokenName, transport };
  const { login, tokenName } = actor;
  return tokenName === null
    ? { kind, id, name, login, transport }
    : { kind, id, name, login, token_name: tokenName, transport };
}

function groupShape(group: GroupView, number: number, publicUrl: string): object {
  const { owner } = group;
  const owned = group.status === 'acknowledged' && owner;
  return {
    number,
    id: group.id,
    title: group.title,
    summary: group.summary,
    status: group.status,
    ...(owned ? { owner: { id: owner.id, name: owner.name, login: owner.login } } : {}),
    route: { id: group.routeId, name: group.routeName },
    urgent: group.urgent,
    severity_level: group.severityLevel,
    started_at: formatInstant(group.startedAt),
    resolved_at: formatInstantOrNull(group.resolvedAt),
    snooze_until: formatInstantOrNull(group.snoozeUntil),
    reopen_count: group.reopenCount,
    url: `${publicUrl}/alert-groups/${group.id}`,
  };
}

function alertShape(alert: AlertView): object {
  return {
    fingerprint: alert.fingerprint,
    status: alert.state,
    labels: alert.labels,
    annotations: alert.annotations,
    starts_at: formatInstant(alert.startsAt),
    resolved_at: formatInstantOrNull(alert.resolvedAt),
    resolve_reason: alert.resolveReason,
    generator_url: alert.generatorUrl,
  };
}

/** What an answer to an events-mode request means (webhooks §3.4). */
const FATAL = new Set([401, 403, 404, 410]);

/** What the receiver says counts by its status, however much it says. */
export const WEBHOOK_MAPPING: AnswerMapping = {
  status(status) {
    if (FATAL.has(status)) return 'fatal';
    return status === 408 || status === 429 || status >= 500 ? 'transient' : 'unknown';
  },
  ignoresSize: true,
};

/** What a request of a webhook came to, in either mode. Errors are masked. */
export type SentOutcome =
  | { readonly class: 'ok'; readonly status: number }
  | { readonly class: 'retry_after'; readonly until: Micros; readonly error: string }
  | { readonly class: 'transient'; readonly error: string }
  | { readonly class: 'fatal'; readonly error: string }
  | { readonly class: 'unknown'; readonly error: string };

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
