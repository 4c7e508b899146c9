/** A Connection as it arrives and as it is answered: the union of its types, and what is judged alike (api §14). */
import * as v from 'valibot';
import { channelOf } from '../../../actors/channels/index.ts';
import type {
  ConnectionFields,
  ConnectionSecrets,
  StoredConnection,
} from '../../../actors/connection/ports.ts';
import { changedProxy, NO_PROXY, proxyErrors } from '../../../actors/proxy-config.ts';
import { formatInstant, formatInstantOrNull } from '../../../runtime/clock.ts';
import type { FieldError } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { limiterErrors, limiterOf, nameErrors } from '../../schema/fields.ts';
import { proxyBody } from '../../schema/shapes.ts';
import { type ConnectionType, secretStatus, warningsOf } from './type.ts';
import { BRIDGE } from './types/bridge.ts';
import { CHANNEL_BOT } from './types/channel-bot.ts';
import { CHAT_SERVER } from './types/chat-server.ts';

/** A line each. */
const TYPES = [BRIDGE, CHAT_SERVER, CHANNEL_BOT] as const;

export const ConnectionInput = d.named(
  'ConnectionInput',
  v.variant(
    'type',
    TYPES.map(({ input }) => input),
  ),
  'A Connection as it is saved.',
);
export type ConnectionInput = v.InferOutput<typeof ConnectionInput>;

export const ConnectionCheckInput = d.named(
  'ConnectionCheckInput',
  v.variant(
    'type',
    TYPES.map(({ checkInput }) => checkInput),
  ),
  'A Connection to check, saved or not.',
);
export type ConnectionCheckInput = v.InferOutput<typeof ConnectionCheckInput>;

export const ConnectionShape = d.named(
  'Connection',
  v.variant(
    'type',
    TYPES.map(({ shape }) => shape),
  ),
  'The way to a messenger.',
);

/** Steps of the checks of all types, with their meaning. */
export const CHECK_STEPS = { ...BRIDGE.checkSteps, ...CHAT_SERVER.checkSteps, ...CHANNEL_BOT.checkSteps };

const LONGEST_ADDRESS = 2000;
const TOKEN = /^[!-~]{1,512}$/;

/** @throws for a type that there is not */
export function typeOf(type: string): ConnectionType {
  const found: ConnectionType | undefined = TYPES.find((each) => each.type === type);
  if (!found) throw new Error(`there are no Connections of type ${type}`);
  return found;
}

export function addressOf(fields: ConnectionFields): string {
  return typeOf(fields.type).addressOf(fields);
}

/** Pointer to it in a body. */
export function addressPointer({ type }: ConnectionFields): string {
  return `/${typeOf(type).addressField}`;
}

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function connectionErrors(
  input: ConnectionInput,
  current: StoredConnection | null,
): readonly FieldError[] {
  const isAnotherType = current !== null && input.type !== current.fields.type;
  return [
    ...(isAnotherType ? [TYPE_IS_FIXED] : []),
    ...nameErrors(input.name),
    ...(isAnotherType ? [] : ownErrors(input, current)),
    ...limiterErrors(input.limiter),
    ...proxyErrors(input.proxy, current?.fields.proxy ?? NO_PROXY),
  ];
}

function ownErrors(input: ConnectionInput, current: StoredConnection | null): readonly FieldError[] {
  const type = typeOf(input.type);
  const stored = current && addressOf(current.fields);
  const address = normalisedAddress(type.addressIn(input, stored));
  return [
    ...addressErrors(type, address),
    ...tokenErrors(type, input.bot_token, { isElsewhere: current !== null && address !== stored, current }),
    ...(type.errors?.(input, current) ?? []),
  ];
}

/** 422 of a check, the Connection that it names aside. @param stored the address of that Connection */
export function checkErrors(input: ConnectionCheckInput, stored: string | null): readonly FieldError[] {
  const type = typeOf(input.type);
  const { bot_token: token } = input;
  return [
    ...addressErrors(type, normalisedAddress(type.addressIn(input, stored))),
    ...(typeof token === 'string' ? tokenFormErrors(token) : []),
  ];
}

function addressErrors({ addressField }: ConnectionType, address: string | null): readonly FieldError[] {
  if (address !== null) return [];
  const detail = 'Give an http or https address without query, fragment and user information.';
  return [{ pointer: `/${addressField}`, code: 'invalid_format', detail }];
}

function tokenErrors(
  { noun }: ConnectionType,
  token: string | null | undefined,
  { isElsewhere, current }: { readonly isElsewhere: boolean; readonly current: StoredConnection | null },
): readonly FieldError[] {
  if (typeof token === 'string') return tokenFormErrors(token);
  if (token === undefined && current?.tokenAt != null && !isElsewhere) return [];
  const detail = isElsewhere
    ? 'Enter the token again: the stored one is only ever sent to the address it was entered for.'
    : `Give the token that the ${noun} expects.`;
  return [{ pointer: '/bot_token', code: 'required', detail }];
}

function tokenFormErrors(token: string): readonly FieldError[] {
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
  const type = typeOf(input.type);
  const proxy = changedProxy(input.proxy, current?.fields.proxy ?? NO_PROXY);
  const token = input.bot_token ?? null;
  const common = {
    name: input.name.trim(),
    address: normalisedAddress(type.addressIn(input, current && addressOf(current.fields))) ?? '',
    limiter: limiterOf(input.limiter, current?.fields.limiter, type.limiter),
    proxy: proxy.fields,
  };
  return {
    save: type.fields(input, common, current),
    secrets: { token, pushSecret: type.pushSecret?.(input) ?? null, proxyPassword: proxy.password },
  };
}

/** Of the service, without trailing slashes. */
type Addresses = Readonly<Record<'ingestUrl' | 'publicUrl', string>>;

/** A Connection as reads answer it. */
export function connectionBody(connection: StoredConnection, { ingestUrl, publicUrl }: Addresses): object {
  const { id, fields, info, inbound, infoWrong: wrong, tokenless } = connection;
  const type = typeOf(fields.type);
  const { callback } = channelOf(fields.type);
  const callbackUrl = `${ingestUrl}/api/v1/callbacks/${callback?.path}/${id}`;
  const mode = 'event_mode' in fields ? fields.event_mode : null;
  return {
    id,
    type: fields.type,
    name: fields.name,
    ...type.body(connection),
    limiter: fields.limiter,
    proxy: proxyBody(fields.proxy, connection.proxyPasswordAt),
    bot_token_status: secretStatus(connection.tokenAt),
    bot_username: type.botName(info),
    destination_count: connection.destinationCount,
    account_link_count: connection.accountLinkCount,
    callback_url: callbackUrl,
    inbound: {
      last_at: formatInstantOrNull(inbound.lastAt),
      error: inbound.error,
      since: formatInstantOrNull(inbound.since),
    },
    warnings: [
      ...warningsOf(type, { address: type.addressOf(fields), mode, info, wrong, tokenless }),
      ...(type.savedWarnings?.(connection, { callbackUrl, publicUrl }) ?? []),
    ],
    created_at: formatInstant(connection.createdAt),
    etag: `"${connection.version}"`,
  };
}

const TYPE_IS_FIXED: FieldError = {
  pointer: '/type',
  code: 'invalid_format',
  detail: 'The type of a Connection cannot change.',
};
