/** An outgoing webhook as it arrives and as it is answered (webhooks §1). */
import * as v from 'valibot';
import type { DestinationChange, StoredDestination, WebhookFields } from '../../actors/destination/ports.ts';
import {
  checkConfiguration,
  templateWarnings,
} from '../../actors/destination/template-mode/check-configuration.ts';
import type {
  RequestTemplate,
  TemplateConfig,
  TemplateDraft,
} from '../../actors/destination/template-mode/configuration.ts';
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

const RulesInput = v.array(v.object({ name: v.string(), path: v.string() }));

const RequestInput = v.object({ request: v.string(), extract: v.optional(v.nullable(RulesInput)) });
type RequestInput = v.InferOutput<typeof RequestInput>;

const TemplateInput = v.object({
  create: v.optional(v.nullable(RequestInput)),
  update: v.optional(v.nullable(RequestInput)),
  open_thread: v.optional(v.nullable(RequestInput)),
  reply_in_thread: v.optional(v.nullable(RequestInput)),
});
type TemplateInput = v.InferOutput<typeof TemplateInput>;

const RequestShape = v.object({ request: v.string() });
const ExtractingShape = v.object({ request: v.string(), extract: RulesInput });

const TemplateShape = v.object({
  create: ExtractingShape,
  update: RequestShape,
  open_thread: v.nullable(ExtractingShape),
  reply_in_thread: v.nullable(RequestShape),
});
type TemplateShape = v.InferOutput<typeof TemplateShape>;

export const WebhookInput = v.object({
  type: v.literal('webhook'),
  ...commonInput,
  mode: v.picklist(['events', 'template']),
  events: v.optional(v.nullable(EventsInput)),
  template: v.optional(v.nullable(TemplateInput)),
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
  template: v.nullable(TemplateShape),
  proxy: ProxyConfigShape,
  signing_secret_status: SigningSecretStatusShape,
  template_error: v.nullable(
    v.object({
      template: v.literal('webhook_request'),
      request: v.string(),
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
  return [
    ...commonErrors(input, 'webhook', directory),
    ...eventsFieldErrors(input, current),
    ...templateFieldErrors(input, current),
    ...(input.proxy ? proxyErrors(input.proxy, current?.proxy ?? NO_PROXY) : []),
  ];
}

export function webhookChange(input: WebhookInput, current: StoredDestination | null): DestinationChange {
  const fields = webhookFields(current);
  const proxy = changedProxy(input.proxy, fields?.proxy ?? NO_PROXY);
  return {
    fields: {
      type: 'webhook',
      ...commonFields(input, current),
      mode: input.mode,
      events: changedEvents(input, fields),
      template: changedTemplate(input, fields),
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
    events: fields.events && { url: fields.events.url, headers: [...fields.events.headers] },
    template: fields.template && templateBody(fields.template),
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

/** The block of the mode that is not in use may be missing; what is sent is judged all the same. */
function eventsFieldErrors(input: WebhookInput, current: WebhookFields | null): readonly FieldError[] {
  const { mode, events } = input;
  if (events) return eventsErrors(normalisedEvents(events));
  if (mode !== 'events' || changedEvents(input, current)) return [];
  return [{ pointer: '/events', code: 'required', detail: 'Give the URL and headers of the requests.' }];
}

function templateFieldErrors(input: WebhookInput, current: WebhookFields | null): readonly FieldError[] {
  const { mode, template } = input;
  if (template) {
    const checked = checkConfiguration(templateDraft(template));
    return checked.ok ? [] : checked.errors;
  }
  if (mode !== 'template' || changedTemplate(input, current)) return [];
  return [{ pointer: '/template', code: 'required', detail: 'Give the requests of template mode.' }];
}

function changedEvents({ events }: WebhookInput, current: WebhookFields | null): WebhookFields['events'] {
  if (events === undefined) return current?.events ?? null;
  return events && normalisedEvents(events);
}

/** What is sent is rendered where it is judged, and not once more here: that takes its time. */
function changedTemplate(
  { template }: WebhookInput,
  current: WebhookFields | null,
): WebhookFields['template'] {
  if (template === undefined) return current?.template ?? null;
  if (template === null) return null;
  const { create, update, ...others } = templateDraft(template);
  return create && update && { create, update, ...others };
}

function templateDraft({ create, update, open_thread, reply_in_thread }: TemplateInput): TemplateDraft {
  return {
    create: requestTemplate(create),
    update: requestTemplate(update),
    open_thread: requestTemplate(open_thread),
    reply_in_thread: requestTemplate(reply_in_thread),
  };
}

function requestTemplate(input: RequestInput | null | undefined): RequestTemplate | null {
  if (!input) return null;
  const extract = (input.extract ?? []).map(({ name, path }) => ({ name, path: path.trim() }));
  return { request: input.request, extract };
}

function templateBody({ create, update, open_thread, reply_in_thread }: TemplateConfig): TemplateShape {
  return {
    create: extractingBody(create),
    update: { request: update.request },
    open_thread: open_thread && extractingBody(open_thread),
    reply_in_thread: reply_in_thread && { request: reply_in_thread.request },
  };
}

function extractingBody({ request, extract }: RequestTemplate) {
  return { request, extract: extract.map(({ name, path }) => ({ name, path })) };
}

function templateErrorBody({ templateError }: StoredDestination): WebhookShape['template_error'] {
  if (!templateError) return null;
  const { request, since, error } = templateError;
  const fixed = { template: 'webhook_request', fallback: 'not_sent' } as const;
  return { ...fixed, request, since: formatInstant(since), error };
}

function warningBodies(
  { signingSecret }: StoredDestination,
  fields: WebhookFields,
): WebhookShape['warnings'] {
  const { previousSince } = signingSecret;
  const literal = literalCredentials(fields).map((warning) => ({ ...warning, since: null }));
  if (previousSince === null) return literal;
  const since = formatInstant(previousSince);
  return [{ kind: 'previous_signing_secret_active', field: null, line: null, since }, ...literal];
}

/** Of the mode in use. */
function literalCredentials({ mode, events, template }: WebhookFields) {
  if (mode === 'template') return template ? templateWarnings(template) : [];
  return events ? eventsWarnings(events).map((warning) => ({ ...warning, line: null })) : [];
}
