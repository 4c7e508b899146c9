/** An outgoing webhook as it arrives and as it is answered (webhooks §1). */
import * as v from 'valibot';
import type { DestinationChange, StoredDestination, WebhookFields } from '../../actors/destination/ports.ts';
import { eventsErrors, eventsWarnings, normalisedEvents } from '../../actors/destination/webhook-config.ts';
import type { Directory } from '../../actors/directory.ts';
import { changedProxy, NO_PROXY, proxyErrors } from '../../actors/proxy/proxy-config.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import type { FieldError } from '../problem.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody } from '../proxy-shapes.ts';
import { commonBody, commonErrors, commonFields, commonInput, commonShape } from './destinations-common.ts';

const EventsInput = v.object({
  url: v.string(),
  headers: v.array(v.object({ name: v.string(), value: v.string() })),
});

export const WebhookInput = v.object({
  type: v.literal('webhook'),
  ...commonInput,
  mode: v.picklist(['events', 'template']),
  events: v.optional(v.nullable(EventsInput)),
  proxy: v.optional(v.nullable(ProxyConfigInput)),
});
export type WebhookInput = v.InferOutput<typeof WebhookInput>;

export const SigningSecretStatusShape = v.object({
  set: v.boolean(),
  updated_at: v.nullable(v.string()),
  previous_active_since: v.nullable(v.string()),
});

export const WebhookShape = v.object({
  type: v.literal('webhook'),
  ...commonShape,
  mode: v.picklist(['events', 'template']),
  events: v.nullable(EventsInput),
  template: v.null(),
  proxy: ProxyConfigShape,
  signing_secret_status: SigningSecretStatusShape,
  template_error: v.nullable(
    v.object({
      template: v.literal('webhook_request'),
      request: v.literal('events'),
      since: v.string(),
      error: v.string(),
      fallback: v.literal('not_sent'),
    }),
  ),
  warnings: v.array(
    v.object({
      kind: v.picklist(['previous_signing_secret_active', 'literal_credential']),
      field: v.nullable(v.string()),
      line: v.nullable(v.number()),
      since: v.nullable(v.string()),
    }),
  ),
});
export type WebhookShape = v.InferOutput<typeof WebhookShape>;

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function webhookErrors(
  input: WebhookInput,
  current: WebhookFields | null,
  directory: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  if (input.mode === 'template') return [NO_TEMPLATE_MODE];
  return [
    ...commonErrors(input, 'webhook', directory),
    ...eventsFieldErrors(input, current),
    ...(input.proxy ? proxyErrors(input.proxy, current?.proxy ?? NO_PROXY) : []),
  ];
}

export function webhookChange(input: WebhookInput, current: StoredDestination | null): DestinationChange {
  const fields = webhookFields(current);
  const { events } = input;
  const proxy = changedProxy(input.proxy, fields?.proxy ?? NO_PROXY);
  return {
    fields: {
      type: 'webhook',
      ...commonFields(input, current),
      mode: 'events',
      events: events ? normalisedEvents(events) : (fields?.events ?? { url: '', headers: [] }),
      proxy: proxy.fields,
    },
    proxyPassword: proxy.password,
    channelName: null,
  };
}

export function webhookBody(
  destination: StoredDestination,
  fields: WebhookFields,
  directory: Pick<Directory, 'routes'>,
): WebhookShape {
  return {
    type: 'webhook',
    ...commonBody(destination, directory),
    mode: fields.mode,
    events: { url: fields.events.url, headers: [...fields.events.headers] },
    template: null,
    proxy: proxyBody(fields.proxy, destination.proxyPasswordAt),
    signing_secret_status: signingSecretBody(destination.signingSecret),
    template_error: templateErrorBody(destination),
    warnings: warningBodies(destination, fields),
  };
}

export function signingSecretBody({ updatedAt, previousSince }: StoredDestination['signingSecret']) {
  return {
    set: updatedAt !== null,
    updated_at: formatInstantOrNull(updatedAt),
    previous_active_since: formatInstantOrNull(previousSince),
  };
}

/** Of a Destination that is one. */
export function webhookFields(destination: StoredDestination | null): WebhookFields | null {
  return destination?.fields.type === 'webhook' ? destination.fields : null;
}

function eventsFieldErrors({ events }: WebhookInput, current: WebhookFields | null): readonly FieldError[] {
  if (events) return eventsErrors(normalisedEvents(events));
  if (events === undefined && current) return [];
  return [{ pointer: '/events', code: 'required', detail: 'Give the URL and headers of the requests.' }];
}

function templateErrorBody({ templateError }: StoredDestination): WebhookShape['template_error'] {
  if (!templateError) return null;
  const { since, error } = templateError;
  const fixed = { template: 'webhook_request', request: 'events', fallback: 'not_sent' } as const;
  return { ...fixed, since: formatInstant(since), error };
}

function warningBodies(
  { signingSecret }: StoredDestination,
  fields: WebhookFields,
): WebhookShape['warnings'] {
  const { previousSince } = signingSecret;
  const literal = eventsWarnings(fields.events).map((warning) => ({ ...warning, line: null, since: null }));
  if (previousSince === null) return literal;
  const since = formatInstant(previousSince);
  return [{ kind: 'previous_signing_secret_active', field: null, line: null, since }, ...literal];
}

const NO_TEMPLATE_MODE: FieldError = {
  pointer: '/mode',
  code: 'unsupported',
  detail: 'Template mode comes with a later version. Choose the mode events.',
};
