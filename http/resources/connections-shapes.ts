/** A Connection as it arrives and as it is answered (api §14). */
import * as v from 'valibot';
import { type BridgeInfo, botName } from '../../actors/connection/bridge/info.ts';
import { isPushSecret } from '../../actors/connection/bridge/push.ts';
import type { ConnectionFields, ConnectionSecrets, StoredConnection } from '../../actors/connection/ports.ts';
import { changedProxy, NO_PROXY, proxyErrors } from '../../actors/proxy/proxy-config.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import { name, nameErrors } from '../fields.ts';
import type { FieldError } from '../problem.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody } from '../proxy-shapes.ts';
import { LimiterShape, SecretStatus } from '../shapes.ts';

export const CONNECTION_TYPES = ['chat_server', 'channel_bot', 'bridge'] as const;

const DEFAULT_LIMITER = { limit: 5, per_seconds: 1 } as const;
const LONGEST_ADDRESS = 2000;
const TOKEN = /^[!-~]{1,512}$/;

/** What a bridge has; of the other types only the type is looked at, and refused. */
export const ConnectionInput = v.pipe(
  v.object({
    type: v.picklist(CONNECTION_TYPES),
    name,
    base_url: v.optional(v.string()),
    event_mode: v.optional(v.picklist(['poll', 'push'])),
    bot_token: v.optional(v.nullable(v.string())),
    push_secret: v.optional(v.nullable(v.string())),
    limiter: v.optional(v.nullable(v.object({ limit: v.number(), per_seconds: v.number() }))),
    proxy: ProxyConfigInput,
  }),
  v.forward(
    v.check((body) => body.type !== 'bridge' || body.base_url !== undefined, 'required'),
    ['base_url'],
  ),
);
export type ConnectionInput = v.InferOutput<typeof ConnectionInput>;

export const WarningShape = v.object({
  kind: v.picklist([
    'base_url_uses_http',
    'event_mode_not_offered',
    'bridge_info_invalid',
    'bridge_without_token',
  ]),
  field: v.nullable(v.string()),
});
export type Warning = v.InferOutput<typeof WarningShape>;

const PersonShape = v.object({
  external_id: v.string(),
  username: v.nullable(v.string()),
  display_name: v.nullable(v.string()),
  bot: v.boolean(),
});

export const InfoShape = v.object({
  protocol_version: v.string(),
  bridge: v.object({ name: v.string(), version: v.string(), homepage: v.nullable(v.string()) }),
  messenger: v.object({
    name: v.string(),
    version: v.nullable(v.string()),
    url: v.nullable(v.string()),
    bot: v.nullable(PersonShape),
  }),
  capabilities: v.object({
    buttons: v.boolean(),
    quiet_messages: v.boolean(),
    native_mentions: v.boolean(),
    delete: v.boolean(),
    direct_messages: v.union([v.literal(false), v.object({ bot_can_start: v.boolean() })]),
    private_answers: v.boolean(),
    thread_messages: v.boolean(),
    deletion_events: v.boolean(),
  }),
  limits: v.object({
    max_body_length: v.number(),
    edit_max_age_seconds: v.nullable(v.number()),
    max_buttons: v.nullable(v.number()),
    max_button_text: v.nullable(v.number()),
  }),
  user_lookup: v.picklist(['none', 'email', 'login', 'username', 'user_id']),
  event_delivery: v.array(v.picklist(['poll', 'push'])),
  link_url_template: v.nullable(v.string()),
});

export const ConnectionShape = v.object({
  id: v.string(),
  type: v.literal('bridge'),
  name: v.string(),
  base_url: v.string(),
  event_mode: v.picklist(['poll', 'push']),
  limiter: LimiterShape,
  proxy: ProxyConfigShape,
  bot_token_status: SecretStatus,
  push_secret_status: SecretStatus,
  bot_username: v.nullable(v.string()),
  destination_count: v.number(),
  account_link_count: v.number(),
  callback_url: v.string(),
  inbound: v.object({
    last_at: v.nullable(v.string()),
    error: v.nullable(v.string()),
    since: v.nullable(v.string()),
  }),
  info: v.nullable(InfoShape),
  info_updated_at: v.nullable(v.string()),
  warnings: v.array(WarningShape),
  created_at: v.string(),
  etag: v.string(),
});
export type ConnectionShape = v.InferOutput<typeof ConnectionShape>;

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function connectionErrors(
  input: ConnectionInput,
  current: StoredConnection | null,
): readonly FieldError[] {
  if (current && input.type !== current.type) return [TYPE_IS_FIXED];
  return [
    ...nameErrors(input.name),
    ...addressErrors(input.base_url),
    ...tokenErrors(input, current),
    ...pushSecretErrors(input, current),
    ...limiterErrors(input),
    ...proxyErrors(input.proxy, current?.fields.proxy ?? NO_PROXY),
  ];
}

/** 422 of the address alone, as saving and checking judge it. */
export function addressErrors(text: string | undefined): readonly FieldError[] {
  if (text !== undefined && normalisedAddress(text) !== null) return [];
  const detail = 'Give an http or https address without query, fragment and user information.';
  return [{ pointer: '/base_url', code: 'invalid_format', detail }];
}

/** 422 of a token that is there. */
export function tokenFormErrors(token: string): readonly FieldError[] {
  if (token === '') return [{ pointer: '/bot_token', code: 'too_short', detail: 'Give the token.' }];
  if (TOKEN.test(token)) return [];
  const detail = 'A token has 1 to 512 printable ASCII characters without spaces.';
  return [{ pointer: '/bot_token', code: 'invalid_format', detail }];
}

/** An address as it is stored: as a URL writes it, without a slash at its end. Null: it is none. */
export function normalisedAddress(text: string): string | null {
  const trimmed = text.trim();
  if ([...trimmed].length > LONGEST_ADDRESS || !URL.canParse(trimmed)) return null;
  const url = new URL(trimmed);
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') return null;
  if (url.username !== '' || url.password !== '' || /[?#]/.test(trimmed)) return null;
  return url.href.replace(/\/+$/, '');
}

/** The fields to store: what is left out keeps its value, null goes back to the default (seed 2 §2.1 rule 4). */
export function connectionFields(
  input: ConnectionInput,
  current: StoredConnection | null,
): { readonly save: ConnectionFields; readonly secrets: ConnectionSecrets } {
  const { limiter } = input;
  const proxy = changedProxy(input.proxy, current?.fields.proxy ?? NO_PROXY);
  return {
    save: {
      name: input.name.trim(),
      base_url: normalisedAddress(input.base_url ?? '') ?? '',
      event_mode: modeOf(input, current),
      limiter:
        limiter === undefined ? (current?.fields.limiter ?? DEFAULT_LIMITER) : (limiter ?? DEFAULT_LIMITER),
      proxy: proxy.fields,
    },
    secrets: {
      token: input.bot_token ?? null,
      pushSecret: input.push_secret === undefined ? null : (input.push_secret ?? 'clear'),
      proxyPassword: proxy.password,
    },
  };
}

/** A Connection as reads answer it. */
export function connectionBody(connection: StoredConnection, ingestUrl: string): ConnectionShape {
  const { id, fields, info, inbound } = connection;
  return {
    id,
    type: connection.type,
    name: fields.name,
    base_url: fields.base_url,
    event_mode: fields.event_mode,
    limiter: fields.limiter,
    proxy: proxyBody(fields.proxy, connection.proxyPasswordAt),
    bot_token_status: secretStatus(connection.tokenAt),
    push_secret_status: secretStatus(connection.pushSecretAt),
    bot_username: botName(info),
    destination_count: connection.destinationCount,
    account_link_count: connection.accountLinkCount,
    callback_url: `${ingestUrl}/api/v1/callbacks/bridge/${id}`,
    inbound: {
      last_at: formatInstantOrNull(inbound.lastAt),
      error: inbound.error,
      since: formatInstantOrNull(inbound.since),
    },
    info: info && infoBody(info),
    info_updated_at: formatInstantOrNull(connection.infoAt),
    warnings: [
      ...warningsOf({
        address: fields.base_url,
        mode: fields.event_mode,
        info,
        wrong: connection.infoWrong,
        tokenless: connection.tokenless,
      }),
    ],
    created_at: formatInstant(connection.createdAt),
    etag: `"${connection.version}"`,
  };
}

export function infoBody(info: BridgeInfo) {
  return { ...info, event_delivery: [...info.event_delivery] };
}

export interface Warned {
  readonly address: string;
  /** Null: it is not known yet. */
  readonly mode: 'poll' | 'push' | null;
  readonly info: BridgeInfo | null;
  /** Pointer into the Info. */
  readonly wrong: string | null;
  readonly tokenless: boolean;
}

export function warningsOf({ address, mode, info, wrong, tokenless }: Warned): readonly Warning[] {
  const isUnoffered = mode !== null && info !== null && !info.event_delivery.includes(mode);
  return [
    ...(address.startsWith('http:') ? [{ kind: 'base_url_uses_http', field: '/base_url' } as const] : []),
    ...(isUnoffered ? [{ kind: 'event_mode_not_offered', field: '/event_mode' } as const] : []),
    ...(wrong === null ? [] : [{ kind: 'bridge_info_invalid', field: wrong } as const]),
    ...(tokenless ? [{ kind: 'bridge_without_token', field: null } as const] : []),
  ];
}

function tokenErrors(
  { bot_token: token, base_url: address }: ConnectionInput,
  current: StoredConnection | null,
): readonly FieldError[] {
  if (typeof token === 'string') return tokenFormErrors(token);
  const isElsewhere = current !== null && normalisedAddress(address ?? '') !== current.fields.base_url;
  if (token === undefined && current?.tokenAt != null && !isElsewhere) return [];
  const detail = isElsewhere
    ? 'Enter the token again: the stored one is only ever sent to the address it was entered for.'
    : 'Give the token that the bridge expects.';
  return [{ pointer: '/bot_token', code: 'required', detail }];
}

function pushSecretErrors(input: ConnectionInput, current: StoredConnection | null): readonly FieldError[] {
  const { push_secret: secret } = input;
  const pointer = '/push_secret';
  if (secret === '') {
    return [{ pointer, code: 'too_short', detail: 'Leave it out to keep it, or send null to clear it.' }];
  }
  if (typeof secret === 'string') {
    if (isPushSecret(secret)) return [];
    const detail = 'A push secret is whsec_ followed by the base64 of at least 24 bytes.';
    return [{ pointer, code: 'invalid_format', detail }];
  }
  const isKept = secret === undefined && current?.pushSecretAt != null;
  if (modeOf(input, current) === 'poll' || isKept) return [];
  return [{ pointer, code: 'required', detail: 'Pushed events are signed with a secret. Give one.' }];
}

function modeOf({ event_mode: mode }: ConnectionInput, current: StoredConnection | null): 'poll' | 'push' {
  return mode ?? current?.fields.event_mode ?? 'poll';
}

function limiterErrors({ limiter }: ConnectionInput): readonly FieldError[] {
  if (!limiter) return [];
  const bounds = { limit: 1000, per_seconds: 3600 } as const;
  return (['limit', 'per_seconds'] as const).flatMap((field): FieldError[] => {
    const value = limiter[field];
    if (Number.isInteger(value) && value >= 1 && value <= bounds[field]) return [];
    const detail = `This is a whole number from 1 to ${bounds[field]}.`;
    return [{ pointer: `/limiter/${field}`, code: 'out_of_range', detail }];
  });
}

function secretStatus(at: number | null) {
  return { set: at !== null, updated_at: formatInstantOrNull(at) };
}

const TYPE_IS_FIXED: FieldError = {
  pointer: '/type',
  code: 'invalid_format',
  detail: 'The type of a Connection cannot change.',
};
