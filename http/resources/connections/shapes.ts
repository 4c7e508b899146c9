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
import { ConnectionType as TypeWord } from '../../schema/words.ts';
import { type ConnectionType, commonCheckInput, commonInput, secretStatus } from './type.ts';
import { BRIDGE } from './types/bridge.ts';
import { CHAT_SERVER } from './types/chat-server.ts';

/** The types that are served, a line each. */
const TYPES = [BRIDGE, CHAT_SERVER] as const;
type Type = (typeof TYPES)[number]['type'];

/** Whether the API makes Connections of a type, and Destinations behind them. */
export function isServed(type: string): type is Type {
  return TYPES.some((each) => each.type === type);
}

/** The description of types that there will be. */
export function notServed(types: readonly string[]): string {
  return `This version does not serve ${types.map((type) => `\`${type}\``).join(' and ')}: 422.`;
}

/** Types that there will be: only the type is looked at, and refused. */
const LATER = TypeWord.options.filter((type) => !isServed(type));
const laterType = d.described(v.picklist(LATER), notServed(LATER));
const later = <Entries extends v.ObjectEntries>(entries: Entries) =>
  LATER.length > 0 ? [v.object({ type: laterType, ...entries })] : [];

export const ConnectionInput = d.named(
  'ConnectionInput',
  v.variant('type', [...TYPES.map(({ input }) => input), ...later(commonInput)]),
  'A Connection as it is saved.',
);
export type ConnectionInput = v.InferOutput<typeof ConnectionInput>;

export const ConnectionCheckInput = d.named(
  'ConnectionCheckInput',
  v.variant('type', [...TYPES.map(({ checkInput }) => checkInput), ...later(commonCheckInput)]),
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
export const CHECK_STEPS = { ...BRIDGE.checkSteps, ...CHAT_SERVER.checkSteps };

const LONGEST_ADDRESS = 2000;
const TOKEN = /^[!-~]{1,512}$/;

/** @throws for a type that is not served */
export function servedType(type: string): ConnectionType {
  const found: ConnectionType | undefined = TYPES.find((each) => each.type === type);
  if (!found) throw new Error(`Connections of type ${type} are not served`);
  return found;
}

export function addressOf(fields: ConnectionFields): string {
  return servedType(fields.type).addressOf(fields);
}

/** Everything that is wrong with a body beyond its shape (422), all of it together. */
export function connectionErrors(
  input: ConnectionInput,
  current: StoredConnection | null,
): readonly FieldError[] {
  const type = typeErrors(input.type, current?.fields.type ?? null);
  return [
    ...type,
    ...nameErrors(input.name),
    ...(type.length > 0 ? [] : ownErrors(input, current)),
    ...limiterErrors(input.limiter),
    ...proxyErrors(input.proxy, current?.fields.proxy ?? NO_PROXY),
  ];
}

function ownErrors(input: ConnectionInput, current: StoredConnection | null): readonly FieldError[] {
  if (!isServedInput(input)) return [];
  const type = servedType(input.type);
  const stored = current && addressOf(current.fields);
  const address = normalisedAddress(type.addressIn(input, stored));
  return [
    ...addressErrors(type, address),
    ...tokenErrors(type, input.bot_token, { isElsewhere: current !== null && address !== stored, current }),
    ...type.errors(input, current),
  ];
}

function isServedInput<Input extends { readonly type: string }>(
  input: Input,
): input is Extract<Input, { readonly type: Type }> {
  return isServed(input.type);
}

/** 422 of the type: it never changes, and only some are served. */
export function typeErrors(type: string, current: string | null): readonly FieldError[] {
  if (current !== null && type !== current) return [TYPE_IS_FIXED];
  return isServed(type) ? [] : [LATER_TYPE];
}

/** 422 of a check, the Connection that it names aside. @param stored the address of that Connection */
export function checkErrors(input: ConnectionCheckInput, stored: string | null): readonly FieldError[] {
  if (!isServedInput(input)) return [LATER_TYPE];
  const type = servedType(input.type);
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
  const type = servedType(input.type);
  const proxy = changedProxy(input.proxy, current?.fields.proxy ?? NO_PROXY);
  const token = isServedInput(input) ? (input.bot_token ?? null) : null;
  const common = {
    name: input.name.trim(),
    address: normalisedAddress(type.addressIn(input, current && addressOf(current.fields))) ?? '',
    limiter: limiterOf(input.limiter, current?.fields.limiter, type.limiter),
    proxy: proxy.fields,
  };
  return {
    save: type.fields(input, common, current),
    secrets: { token, pushSecret: type.pushSecret(input), proxyPassword: proxy.password },
  };
}

/** A Connection as reads answer it. */
export function connectionBody(connection: StoredConnection, ingestUrl: string): object {
  const { id, fields, info, inbound, infoWrong: wrong, tokenless } = connection;
  const type = servedType(fields.type);
  const { callback } = channelOf(fields.type);
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
    callback_url: `${ingestUrl}/api/v1/callbacks/${callback?.path}/${id}`,
    inbound: {
      last_at: formatInstantOrNull(inbound.lastAt),
      error: inbound.error,
      since: formatInstantOrNull(inbound.since),
    },
    warnings: type.warnings({ address: type.addressOf(fields), mode, info, wrong, tokenless }),
    created_at: formatInstant(connection.createdAt),
    etag: `"${connection.version}"`,
  };
}

const LATER_TYPE: FieldError = {
  pointer: '/type',
  code: 'unsupported',
  detail: 'This messenger comes with a later version. Choose another type.',
};

const TYPE_IS_FIXED: FieldError = {
  pointer: '/type',
  code: 'invalid_format',
  detail: 'The type of a Connection cannot change.',
};
