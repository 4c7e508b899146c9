/** A Connection as it arrives and as it is answered (api §14). */
import * as v from 'valibot';
import { type BridgeInfo, botName } from '../../../actors/channels/bridge/info.ts';
import { CHANNELS } from '../../../actors/channels/index.ts';
import { isSigningSecret } from '../../../actors/channels/signature.ts';
import type {
  ConnectionFields,
  ConnectionSecrets,
  StoredConnection,
} from '../../../actors/connection/ports.ts';
import { changedProxy, NO_PROXY, proxyErrors } from '../../../actors/proxy-config.ts';
import { formatInstant, formatInstantOrNull } from '../../../runtime/clock.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import {
  LimiterShape,
  limiterErrors,
  limiterInput,
  limiterOf,
  name,
  nameErrors,
} from '../../schema/fields.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody, SecretStatus } from '../../schema/shapes.ts';
import { ConnectionType, ConnectionWarningKind } from '../../schema/words.ts';

const LONGEST_ADDRESS = 2000;
const TOKEN = /^[!-~]{1,512}$/;

/** A type that this build does not speak to; whether it has an address is not judged. */
export function isLater(type: unknown): boolean {
  return type === 'chat_server' || type === 'channel_bot';
}

/** What a bridge has; of the other types only the type is looked at, and refused. */
export const ConnectionInput = d.named(
  'ConnectionInput',
  v.pipe(
    v.object({
      type: d.described(ConnectionType, 'Its type, which never changes.'),
      name,
      ...CHANNELS.bridge.settings.connection.entries,
      limiter: limiterInput,
      proxy: d.described(ProxyConfigInput, 'The proxy to it.'),
    }),
    v.forward(
      v.check((body) => isLater(body.type) || body.base_url !== undefined, 'required'),
      ['base_url'],
    ),
  ),
  'A Connection as it is saved.',
);
export type ConnectionInput = v.InferOutput<typeof ConnectionInput>;

export const WarningShape = d.named(
  'ConnectionWarning',
  v.object({
    kind: ConnectionWarningKind,
    field: d.textOrNull(
      'JSON pointer into the info of the bridge, with `bridge_info_invalid`; null otherwise.',
    ),
  }),
  'Something about a Connection that is not as it should be.',
);
export type Warning = v.InferOutput<typeof WarningShape>;

const PersonShape = d.named(
  'MessengerAccount',
  v.object({
    external_id: d.text('Its id in the messenger.'),
    username: d.textOrNull('Name by which it is mentioned; null without one.'),
    display_name: d.textOrNull('Name that the messenger shows; null without one.'),
    bot: d.flag('Whether it is a program.'),
  }),
  'An account of a messenger.',
);

const EventMode = d.words(
  'EventMode',
  { poll: 'Tocsin asks for events.', push: 'The bridge sends them.' },
  'How events of a bridge arrive.',
);

export const InfoShape = d.named(
  'BridgeInfo',
  v.object({
    protocol_version: d.text('Version of the bridge protocol.'),
    bridge: d.described(
      v.object({
        name: d.text('Its name.'),
        version: d.text('Its version.'),
        homepage: d.textOrNull('A page about it; null without one.'),
      }),
      'The bridge.',
    ),
    messenger: d.described(
      v.object({
        name: d.text('Its name.'),
        version: d.textOrNull('Its version; null when unknown.'),
        url: d.textOrNull('Its address for people; null without one.'),
        bot: d.described(v.nullable(PersonShape), 'The account that writes; null when unknown.'),
      }),
      'The messenger behind it.',
    ),
    capabilities: d.described(
      v.object({
        buttons: d.flag('Messages can have buttons.'),
        quiet_messages: d.flag('Messages can arrive without a sound.'),
        native_mentions: d.flag('Accounts can be mentioned so that it rings.'),
        delete: d.flag('Messages can be deleted.'),
        direct_messages: d.described(
          v.union([
            v.literal(false),
            v.object({
              bot_can_start: d.flag('Whether the bot may write to somebody who never wrote to it.'),
            }),
          ]),
          '`false` without direct messages.',
        ),
        private_answers: d.flag('A press can be answered to one person alone.'),
        thread_messages: d.flag('What people write in a Thread arrives.'),
        deletion_events: d.flag('The bridge reports that a message was deleted.'),
      }),
      'What the messenger can do.',
    ),
    limits: d.described(
      v.object({
        max_body_length: d.count('Characters of a message.'),
        edit_max_age_seconds: v.nullable(
          d.count('Seconds for which a message can be edited; null for ever.'),
        ),
        max_buttons: v.nullable(d.count('Buttons of a message; null for any number.')),
        max_button_text: v.nullable(d.count('Characters of a button; null for any number.')),
      }),
      'What the messenger takes at most.',
    ),
    user_lookup: d.described(
      v.picklist(['none', 'email', 'login', 'username', 'user_id']),
      'By what an account can be found: its `email`, `login`, `username` or `user_id`; `none`: by nothing.',
    ),
    event_delivery: d.described(v.array(EventMode), 'How events can be delivered.'),
    link_url_template: d.textOrNull(
      'Address that opens a chat with the bot; `{token}` is replaced. Null without one.',
    ),
  }),
  'What a bridge says about itself and its messenger.',
);

export const ConnectionShape = d.named(
  'Connection',
  v.object({
    id: d.id('CN'),
    type: d.described(v.literal('bridge'), 'Its type. This version serves bridges only.'),
    name: d.text('Its name, unique.'),
    base_url: d.url('Address of the bridge.'),
    event_mode: EventMode,
    limiter: d.described(LimiterShape, 'Most calls in a time.'),
    proxy: d.described(ProxyConfigShape, 'The proxy to it.'),
    bot_token_status: d.described(SecretStatus, 'Whether a token is stored.'),
    push_secret_status: d.described(SecretStatus, 'Whether a secret for pushed events is stored.'),
    bot_username: d.textOrNull('Name of the bot as it was last seen; null before that.'),
    destination_count: d.count('Destinations that use it.'),
    account_link_count: d.count('Account links through it.'),
    callback_url: d.url('Where the messenger or bridge sends events.'),
    inbound: d.described(
      v.object({
        last_at: v.nullable(d.time('When the last event arrived; null before the first.')),
        error: d.textOrNull('Why none can be received, masked; null while they can.'),
        since: v.nullable(d.time('Since when that is so; null without an error.')),
      }),
      'Whether events arrive.',
    ),
    info: d.described(v.nullable(InfoShape), 'What the bridge last said about itself; null before that.'),
    info_updated_at: v.nullable(d.time('When it said so; null before that.')),
    warnings: d.described(v.array(WarningShape), 'What is not as it should be.'),
    created_at: d.time('When it was created.'),
    etag: d.VERSION,
  }),
  'The way to a messenger.',
);
export type ConnectionShape = v.InferOutput<typeof ConnectionShape>;

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function connectionErrors(
  input: ConnectionInput,
  current: StoredConnection | null,
): readonly FieldError[] {
  return [
    ...typeErrors(input.type, current),
    ...nameErrors(input.name),
    ...(isLater(input.type) ? [] : bridgeErrors(input, current)),
    ...limiterErrors(input.limiter),
    ...proxyErrors(input.proxy, current?.fields.proxy ?? NO_PROXY),
  ];
}

function bridgeErrors(input: ConnectionInput, current: StoredConnection | null): readonly FieldError[] {
  return [
    ...addressErrors(input.base_url),
    ...tokenErrors(input, current),
    ...pushSecretErrors(input, current),
  ];
}

/** 422 of the type: it never changes, and this build speaks to bridges only. */
export function typeErrors(
  type: ConnectionInput['type'],
  current: Pick<StoredConnection, 'type'> | null,
): readonly FieldError[] {
  if (current && type !== current.type) return [TYPE_IS_FIXED];
  return isLater(type) ? [LATER_TYPE] : [];
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

/** The fields to store: an omitted one keeps its value, null restores the default (api §1.7). */
export function connectionFields(
  input: ConnectionInput,
  current: StoredConnection | null,
): { readonly save: ConnectionFields; readonly secrets: ConnectionSecrets } {
  const proxy = changedProxy(input.proxy, current?.fields.proxy ?? NO_PROXY);
  return {
    save: {
      name: input.name.trim(),
      base_url: normalisedAddress(input.base_url ?? '') ?? '',
      event_mode: modeOf(input, current),
      limiter: limiterOf(input.limiter, current?.fields.limiter),
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
    if (isSigningSecret(secret)) return [];
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

function secretStatus(at: number | null) {
  return { set: at !== null, updated_at: formatInstantOrNull(at) };
}

const LATER_TYPE: FieldError = {
  pointer: '/type',
  code: 'unsupported',
  detail: 'This messenger comes with a later version. Create a bridge.',
};

const TYPE_IS_FIXED: FieldError = {
  pointer: '/type',
  code: 'invalid_format',
  detail: 'The type of a Connection cannot change.',
};
