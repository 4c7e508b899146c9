/** An outgoing webhook as it arrives and as it is answered (webhooks §1). */
import * as v from 'valibot';
import { CHANNELS } from '../../../actors/channels/index.ts';
import {
  checkConfiguration,
  ExtractionRulesShape,
  templateWarnings,
} from '../../../actors/channels/webhook-template/check-configuration.ts';
import type {
  DestinationChange,
  StoredDestination,
  WebhookFields,
} from '../../../actors/destination/ports.ts';
import {
  eventsErrors,
  eventsWarnings,
  normalisedEvents,
  type RequestTemplate,
  type TemplateConfig,
  type TemplateDraft,
} from '../../../actors/destination/webhook-config.ts';
import type { Directory } from '../../../actors/directory.ts';
import { changedProxy, NO_PROXY, proxyErrors } from '../../../actors/proxy-config.ts';
import { formatInstant, formatInstantOrNull } from '../../../runtime/clock.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody } from '../../schema/shapes.ts';
import { CommonShape, commonBody, commonErrors, commonFields, commonInput } from './common.ts';

const EventsInput = CHANNELS.webhook_events.settings.destination;
const TemplateInput = CHANNELS.webhook_template.settings.destination;
type TemplateInput = v.InferOutput<typeof TemplateInput>;
type RequestInput = NonNullable<TemplateInput['create']>;
const request = d.text('The template: a request line, headers, an empty line and a body.');

const RequestShape = d.named('WebhookRequest', v.object({ request }), 'A request as a template.');
const ExtractingShape = d.named(
  'ExtractingWebhookRequest',
  v.object({
    request,
    extract: ExtractionRulesShape,
  }),
  'A request as a template, and what is taken from its answer.',
);

const TemplateShape = d.named(
  'WebhookTemplate',
  v.object({
    create: d.described(ExtractingShape, 'Sent when an Alert Group is first delivered.'),
    update: d.described(RequestShape, 'Sent when the Alert Group changed.'),
    open_thread: d.described(v.nullable(ExtractingShape), 'Sent before the first reply; null for none.'),
    reply_in_thread: d.described(
      v.nullable(RequestShape),
      'Sent for what must ring after the first message; null for none.',
    ),
  }),
  'The requests of a webhook in template mode.',
);

const Mode = d.words(
  'WebhookMode',
  { events: 'One signed request for each lifecycle event.', template: 'Requests as you write them.' },
  'What a webhook sends.',
);

export const WebhookInput = d.named(
  'WebhookDestinationInput',
  v.object({
    type: d.described(v.literal('webhook'), 'HTTP requests.'),
    ...commonInput,
    mode: Mode,
    events: d.described(v.optional(v.nullable(EventsInput)), 'Needed in events mode. Left out it stays.'),
    template: d.described(
      v.optional(v.nullable(TemplateInput)),
      'Needed in template mode. Left out it stays.',
    ),
    proxy: d.described(
      v.optional(v.nullable(ProxyConfigInput)),
      'The proxy to the receiver. Left out it stays.',
    ),
  }),
  'A webhook as it is saved.',
);
export type WebhookInput = v.InferOutput<typeof WebhookInput>;

export const SigningSecretStatusShape = d.named(
  'SigningSecretStatus',
  v.object({
    set: d.flag('Whether there is a signing secret.'),
    updated_at: v.nullable(d.time('When it was made; null without one.')),
    previous_active_since: v.nullable(
      d.time('Since when a previous secret signs, too; null when none does.'),
    ),
  }),
  'Whether requests are signed.',
);

export const WebhookShape = d.extending(
  CommonShape,
  'WebhookDestination',
  v.object({
    type: d.described(v.literal('webhook'), 'HTTP requests.'),
    ...CommonShape.entries,
    mode: Mode,
    events: d.described(v.nullable(EventsInput), 'Settings of events mode; null when never set.'),
    template: d.described(v.nullable(TemplateShape), 'Settings of template mode; null when never set.'),
    proxy: ProxyConfigShape,
    signing_secret_status: SigningSecretStatusShape,
    template_error: d.described(
      v.nullable(
        v.object({
          template: d.described(v.literal('webhook_request'), 'The templates of a webhook.'),
          request: d.text('Which request.'),
          since: d.time('Since when it fails.'),
          error: d.text('What is wrong.'),
          fallback: d.described(v.literal('not_sent'), 'Nothing is sent in its place.'),
        }),
      ),
      'The request that fails; null while none does.',
    ),
    warnings: d.described(
      v.array(
        v.object({
          kind: d.described(
            v.picklist(['previous_signing_secret_active', 'literal_credential']),
            '`previous_signing_secret_active`: retire it once receivers know the new one; `literal_credential`: a template seems to hold a credential, which belongs into a Secret.',
          ),
          field: d.textOrNull('Where, as a JSON pointer; null when it is about no field.'),
          line: d.described(v.nullable(v.number()), 'Line in a template; null otherwise.'),
          since: v.nullable(d.time('Since when, where that is known; null otherwise.')),
        }),
      ),
      'What is not as it should be.',
    ),
  }),
  'A receiver of HTTP requests.',
);
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
    found: null,
  };
}

export function webhookBody(
  destination: StoredDestination,
  fields: WebhookFields,
  directory: Pick<Directory, 'routes'>,
) {
  return {
    type: 'webhook',
    ...commonBody(destination, directory),
    mode: fields.mode,
    events: fields.events,
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

function templateBody({ create, update, open_thread, reply_in_thread }: TemplateConfig) {
  return {
    ...{ create, update: { request: update.request }, open_thread },
    reply_in_thread: reply_in_thread && { request: reply_in_thread.request },
  };
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
