/** The form of a Connection, by its type, and what is sent. */
import type {
  Connection,
  ConnectionCheckInput,
  ConnectionInput,
  ConnectionType,
  InboundMode,
} from '../../api/connections.ts';
import { fromProxyDraft, NO_PROXY, type ProxyDraft, toProxyDraft } from '../../forms/proxy-draft.ts';

interface TypeFields {
  /** Name of the field that holds the address. */
  readonly address: 'server_url' | 'bot_api_base_url' | 'base_url';
  /** The address that nearly everybody means. */
  readonly preset: string;
  /** An address as people would write it. */
  readonly example: string;
  /** How presses of buttons arrive, the default first; null where there is one way only. */
  readonly mode: {
    readonly at: 'event_mode' | 'update_mode';
    readonly offers: readonly InboundMode[];
  } | null;
  /** Requests per second. */
  readonly limit: number;
  /** What to do at the messenger before, in order. */
  readonly setup: readonly `setup.${string}`[];
}

const TELEGRAM = 'https://api.telegram.org';

/** What differs between the types of Connection (api §14). */
export const CONNECTION_TYPES = {
  chat_server: {
    ...{ address: 'server_url', preset: '', example: 'https://chat.example.org', mode: null, limit: 5 },
    setup: ['setup.serverBots', 'setup.serverBot', 'setup.serverToken', 'setup.serverJoin'],
  },
  channel_bot: {
    ...{ address: 'bot_api_base_url', preset: TELEGRAM, example: TELEGRAM, limit: 10 },
    mode: { at: 'update_mode', offers: ['long_polling', 'webhook'] },
    setup: ['setup.botNew', 'setup.botToken', 'setup.botChannel', 'setup.botGroup'],
  },
  bridge: {
    ...{ address: 'base_url', preset: '', example: 'https://bridge.example.org', limit: 5 },
    mode: { at: 'event_mode', offers: ['poll', 'push'] },
    setup: ['setup.bridgeRun', 'setup.bridgeToken'],
  },
} as const satisfies Record<ConnectionType, TypeFields>;

export const fieldsOf = (type: ConnectionType): TypeFields => CONNECTION_TYPES[type];

export const addressOf = (connection: Connection): string =>
  connection[fieldsOf(connection.type).address] ?? '';

/** Whether the Account links of a Connection end when it gets the address of the draft (account-links §2). */
export function endsLinks({ type, address }: ConnectionDraft, before: string): boolean {
  const typed = address.trim().replace(/\/+$/, '');
  switch (type) {
    case 'bridge':
      return typed !== before;
    case 'chat_server':
      return URL.parse(typed)?.host !== URL.parse(before)?.host;
    case 'channel_bot':
      return false;
  }
}

/** How presses arrive; null where there is one way only. */
export function modeOf(connection: Connection): InboundMode | null {
  const { mode } = fieldsOf(connection.type);
  return mode && (connection[mode.at] ?? mode.offers[0] ?? null);
}

/** Whether the messenger calls Tocsin, so that somebody has to let it. */
export const isCalledBack = (connection: Connection): boolean =>
  connection.type === 'chat_server' || ['push', 'webhook'].includes(modeOf(connection) ?? '');

export interface ConnectionDraft {
  readonly type: ConnectionType;
  name: string;
  address: string;
  /** Empty: what is stored stays. */
  token: string;
  mode: InboundMode | null;
  /** Of a bridge. Empty: what is stored stays. */
  pushSecret: string;
  limit: number;
  perSeconds: number;
  proxy: ProxyDraft;
}

const PUSH_SECRET_BYTES = 32;

/** @param name a first one, to be changed */
export function newDraft(type: ConnectionType, name = ''): ConnectionDraft {
  const { preset: address, mode, limit } = fieldsOf(type);
  return {
    ...{ type, name, address, token: '', mode: mode?.offers[0] ?? null, pushSecret: '' },
    ...{ limit, perSeconds: 1, proxy: { ...NO_PROXY } },
  };
}

export function toDraft(connection: Connection): ConnectionDraft {
  const { type, name, limiter } = connection;
  return {
    ...{ type, name, address: addressOf(connection), mode: modeOf(connection), token: '', pushSecret: '' },
    ...{ limit: limiter.limit, perSeconds: limiter.per_seconds, proxy: toProxyDraft(connection.proxy) },
  };
}

/** What a check and a save have in common. */
function placeOf({ type, address, mode, token, proxy }: ConnectionDraft): ConnectionCheckInput {
  const fields = fieldsOf(type);
  return {
    ...{ type, [fields.address]: address, proxy: fromProxyDraft(proxy) },
    ...(fields.mode && { [fields.mode.at]: mode }),
    ...(token === '' ? {} : { bot_token: token }),
  };
}

export function fromDraft(draft: ConnectionDraft): ConnectionInput {
  const { name, pushSecret, limit, perSeconds } = draft;
  return {
    ...placeOf(draft),
    ...{ name, limiter: { limit, per_seconds: perSeconds } },
    ...(pushSecret === '' ? {} : { push_secret: pushSecret }),
  };
}

const HIDDEN = '••••••••';

/** The same for comparing and showing: whether a secret was typed, never which. */
export function withoutSecrets(input: ConnectionInput): ConnectionInput {
  const { bot_token: token, push_secret: secret, proxy } = input;
  return {
    ...input,
    proxy: { ...proxy, ...(proxy.password === undefined ? {} : { password: HIDDEN }) },
    ...(token === undefined ? {} : { bot_token: HIDDEN }),
    ...(secret === undefined ? {} : { push_secret: HIDDEN }),
  };
}

/** @param id of the saved Connection: its token is used where address and proxy are the saved ones */
export function checkOf(draft: ConnectionDraft, id: string | null): ConnectionCheckInput {
  const { event_mode: _, ...place } = placeOf(draft);
  return { ...place, ...(id === null ? {} : { connection_id: id }) };
}

/** `whsec_` and the base64 of 32 random bytes. */
export function newPushSecret(random: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array): string {
  const bytes = random(new Uint8Array(PUSH_SECRET_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}
