/** A Destination as it arrives and as it is answered (webhooks §1, api §15). */
import * as v from 'valibot';
import type { DestinationChange, StoredDestination } from '../../actors/destination/ports.ts';
import { eventsErrors, eventsWarnings, normalisedEvents } from '../../actors/destination/webhook-config.ts';
import type { Directory, MentionSetting, MentionTargets } from '../../actors/directory.ts';
import { changedProxy, NO_PROXY, proxyErrors } from '../../actors/proxy/proxy-config.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import { duplicates, name, nameErrors, publicId } from '../fields.ts';
import type { FieldError } from '../problem.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody } from '../proxy-shapes.ts';
import { EntityRef, LimiterShape } from '../shapes.ts';

const TYPES = ['webhook', 'chat_server', 'channel_bot', 'bridge'] as const;

/** In the order in which they are answered. */
const MENTION_SETTINGS = [
  'new_alert_group',
  'new_alerts',
  'reopen',
  'ack_timeout',
  'snooze_ended',
  'rise_to_urgent',
] as const satisfies readonly MentionSetting[];

const NOBODY: MentionTargets = { everyone: 'none', user_ids: [], groups: [] };
const DEFAULT_MENTIONS = everySetting(() => NOBODY);
const DEFAULT_LIMITER = { limit: 5, per_seconds: 1 } as const;

const Everyone = v.picklist(['none', 'all', 'channel', 'here']);

const MentionTargetsInput = v.object({
  everyone: Everyone,
  user_ids: v.pipe(v.array(publicId), v.maxLength(50, 'too_long')),
  groups: v.pipe(
    v.array(v.pipe(v.string(), v.nonEmpty('too_short'), v.maxLength(64, 'too_long'))),
    v.maxLength(20, 'too_long'),
  ),
});

const MentionTargetsShape = v.object({
  everyone: Everyone,
  user_ids: v.array(v.string()),
  groups: v.array(v.string()),
});

const EventsInput = v.object({
  url: v.string(),
  headers: v.array(v.object({ name: v.string(), value: v.string() })),
});

/** What every type has in common, and what a webhook has besides; the other types are refused by their type. */
export const DestinationInput = v.pipe(
  v.object({
    type: v.picklist(TYPES),
    name,
    mode: v.optional(v.picklist(['events', 'template'])),
    events: v.optional(v.nullable(EventsInput)),
    proxy: v.optional(v.nullable(ProxyConfigInput)),
    mentions: v.optional(v.nullable(v.object(settingsOf(MentionTargetsInput)))),
    limiter: v.optional(v.nullable(v.object({ limit: v.number(), per_seconds: v.number() }))),
  }),
  v.forward(
    v.check((body) => body.type !== 'webhook' || body.mode !== undefined, 'required'),
    ['mode'],
  ),
);
export type DestinationInput = v.InferOutput<typeof DestinationInput>;

export const HealthShape = v.object({
  state: v.picklist(['healthy', 'broken']),
  since: v.nullable(v.string()),
  reason: v.nullable(v.string()),
});

export const SigningSecretStatusShape = v.object({
  set: v.boolean(),
  updated_at: v.nullable(v.string()),
  previous_active_since: v.nullable(v.string()),
});

export const DestinationShape = v.object({
  id: v.string(),
  type: v.picklist(TYPES),
  name: v.string(),
  mode: v.picklist(['events', 'template']),
  events: v.nullable(EventsInput),
  template: v.null(),
  proxy: ProxyConfigShape,
  mentions: v.object(settingsOf(MentionTargetsShape)),
  limiter: LimiterShape,
  signing_secret_status: SigningSecretStatusShape,
  health: HealthShape,
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
  routes: v.array(EntityRef),
  created_at: v.string(),
  etag: v.string(),
});
export type DestinationShape = v.InferOutput<typeof DestinationShape>;

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function destinationErrors(
  input: DestinationInput,
  current: StoredDestination | null,
  directory: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  const unsupported = typeErrors(input, current);
  if (unsupported.length > 0) return unsupported;
  return [
    ...nameErrors(input.name),
    ...eventsFieldErrors(input, current),
    ...(input.proxy ? proxyErrors(input.proxy, current?.fields.proxy ?? NO_PROXY) : []),
    ...mentionErrors(input, directory),
    ...limiterErrors(input),
  ];
}

/** What to store: what is left out keeps its value, null goes back to the default (seed 2 §2.1 rule 4). */
export function destinationChange(
  input: DestinationInput,
  current: StoredDestination | null,
): DestinationChange {
  const { events, mentions, limiter } = input;
  const proxy = changedProxy(input.proxy, current?.fields.proxy ?? NO_PROXY);
  const fields = {
    name: input.name.trim(),
    mode: 'events' as const,
    events: events ? normalisedEvents(events) : (current?.fields.events ?? { url: '', headers: [] }),
    mentions:
      mentions === undefined
        ? (current?.fields.mentions ?? DEFAULT_MENTIONS)
        : (mentions ?? DEFAULT_MENTIONS),
    limiter:
      limiter === undefined ? (current?.fields.limiter ?? DEFAULT_LIMITER) : (limiter ?? DEFAULT_LIMITER),
    proxy: proxy.fields,
  };
  return { fields, proxyPassword: proxy.password };
}

/** A Destination as reads answer it. */
export function destinationBody(
  destination: StoredDestination,
  directory: Pick<Directory, 'routes'>,
): DestinationShape {
  const { id, fields, version } = destination;
  const routes = directory.routes.filter((route) => route.destinationIds.includes(id));
  return {
    id,
    type: 'webhook',
    name: fields.name,
    mode: fields.mode,
    events: { url: fields.events.url, headers: [...fields.events.headers] },
    template: null,
    proxy: proxyBody(fields.proxy, destination.proxyPasswordAt),
    mentions: everySetting((setting) => targetsBody(fields.mentions[setting])),
    limiter: fields.limiter,
    signing_secret_status: signingSecretBody(destination.signingSecret),
    health: healthBody(destination.health),
    template_error: templateErrorBody(destination),
    warnings: warningBodies(destination),
    routes: routes.map((route) => ({ id: route.id, name: route.name })),
    created_at: formatInstant(destination.createdAt),
    etag: `"${version}"`,
  };
}

export function signingSecretBody({ updatedAt, previousSince }: StoredDestination['signingSecret']) {
  return {
    set: updatedAt !== null,
    updated_at: formatInstantOrNull(updatedAt),
    previous_active_since: formatInstantOrNull(previousSince),
  };
}

export function healthBody(health: StoredDestination['health']) {
  if (health.state === 'healthy') return { state: health.state, since: null, reason: null };
  return { state: health.state, since: formatInstant(health.since), reason: health.reason };
}

function typeErrors(input: DestinationInput, current: StoredDestination | null): readonly FieldError[] {
  if (input.type !== 'webhook') {
    const code = current ? 'invalid_format' : 'unsupported';
    const detail = current
      ? 'The type of a Destination cannot change.'
      : 'Messengers come with a later version. Create an outgoing webhook.';
    return [{ pointer: '/type', code, detail }];
  }
  if (input.mode !== 'template') return [];
  const detail = 'Template mode comes with a later version. Choose the mode events.';
  return [{ pointer: '/mode', code: 'unsupported', detail }];
}

function eventsFieldErrors(
  { events }: DestinationInput,
  current: StoredDestination | null,
): readonly FieldError[] {
  if (events) return eventsErrors(normalisedEvents(events));
  if (events === undefined && current) return [];
  return [{ pointer: '/events', code: 'required', detail: 'Give the URL and headers of the requests.' }];
}

function mentionErrors(
  { mentions }: DestinationInput,
  { usersById }: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  if (!mentions) return [];
  return MENTION_SETTINGS.flatMap((setting) => {
    const { user_ids: userIds, groups } = mentions[setting];
    const pointer = `/mentions/${setting}`;
    const unknown = userIds.flatMap((id, index): FieldError[] => {
      const user = usersById.get(id);
      if (user && user.status !== 'deleted') return [];
      const detail = 'There is no such user. Choose another one.';
      return [{ pointer: `${pointer}/user_ids/${index}`, code: 'unknown_id', detail }];
    });
    return [
      ...unknown,
      ...duplicates(userIds, `${pointer}/user_ids`),
      ...duplicates(groups, `${pointer}/groups`),
    ];
  });
}

function limiterErrors({ limiter }: DestinationInput): readonly FieldError[] {
  if (!limiter) return [];
  const bounds = { limit: 1000, per_seconds: 3600 } as const;
  return (['limit', 'per_seconds'] as const).flatMap((field): FieldError[] => {
    const value = limiter[field];
    if (Number.isInteger(value) && value >= 1 && value <= bounds[field]) return [];
    const detail = `This is a whole number from 1 to ${bounds[field]}.`;
    return [{ pointer: `/limiter/${field}`, code: 'out_of_range', detail }];
  });
}

function templateErrorBody({ templateError }: StoredDestination): DestinationShape['template_error'] {
  if (!templateError) return null;
  const { since, error } = templateError;
  const fixed = { template: 'webhook_request', request: 'events', fallback: 'not_sent' } as const;
  return { ...fixed, since: formatInstant(since), error };
}

function warningBodies({ fields, signingSecret }: StoredDestination): DestinationShape['warnings'] {
  const { previousSince } = signingSecret;
  const literal = eventsWarnings(fields.events).map((warning) => ({ ...warning, line: null, since: null }));
  if (previousSince === null) return literal;
  const since = formatInstant(previousSince);
  return [{ kind: 'previous_signing_secret_active', field: null, line: null, since }, ...literal];
}

function targetsBody(targets: MentionTargets) {
  return { everyone: targets.everyone, user_ids: [...targets.user_ids], groups: [...targets.groups] };
}

function everySetting<Value>(value: (setting: MentionSetting) => Value): Record<MentionSetting, Value> {
  const entries = MENTION_SETTINGS.map((setting) => [setting, value(setting)]);
  return Object.fromEntries(entries) as Record<MentionSetting, Value>;
}

function settingsOf<Value>(value: Value): Record<MentionSetting, Value> {
  return everySetting(() => value);
}
